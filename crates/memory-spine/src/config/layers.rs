//! Values by their dotted names, each with where it came from.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use toml::{Table, Value};

const VARIABLE_PREFIX: &str = "MEMORY_SPINE_";
/// Variables that others have named, and the settings they are for. Our own are stronger.
const ALIASES: &[(&str, &str)] = &[
    ("OTEL_EXPORTER_OTLP_ENDPOINT", "telemetry.otlp_endpoint"),
    ("OTEL_EXPORTER_OTLP_HEADERS", "telemetry.otlp_headers"),
];

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Built in.
    Default,
    /// A file, by its name.
    File(String),
    /// A variable, by its name.
    Variable(String),
    /// A flag, by its name.
    Flag(String),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("in the defaults"),
            Self::File(name) => write!(f, "in {name}"),
            Self::Variable(name) | Self::Flag(name) => write!(f, "from {name}"),
        }
    }
}

/// A setting that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A value that is not as it must be.
    #[error("`{key}` {source_of}: {problem}")]
    Value {
        /// Which setting.
        key: String,
        /// Where it came from.
        source_of: Source,
        /// What is wrong.
        problem: String,
    },
    /// A file that cannot be read.
    #[error("{file}: {problem}")]
    File {
        /// Which.
        file: String,
        /// Why.
        problem: String,
    },
}

/// Every setting, with where its value came from.
#[derive(Debug, Clone)]
pub struct Layers {
    values: BTreeMap<String, (Value, Source)>,
}

impl Layers {
    /// Nothing but the defaults.
    pub fn defaults() -> Result<Self, ConfigError> {
        let table = parse("the defaults", super::DEFAULTS)?;
        let values = flat(table).map(|(key, value)| (key, (value, Source::Default))).collect();
        Ok(Self { values })
    }

    /// With what a file on disk says.
    pub fn with_file_at(self, path: &Path) -> Result<Self, ConfigError> {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| ConfigError::File {
            file: file.clone(),
            problem: error.to_string(),
        })?;
        self.with_file(&file, &text)
    }

    /// With what a file says.
    pub fn with_file(mut self, name: &str, text: &str) -> Result<Self, ConfigError> {
        for (key, value) in flat(parse(name, text)?) {
            self.set(key, value, Source::File(name.to_owned()))?;
        }
        Ok(self)
    }

    /// With what variables say. Others of the same prefix are for other programs.
    pub fn with_variables(
        mut self,
        variables: impl Iterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        let named = |key: &String| (variable_of(key), key.clone());
        let mut keys: BTreeMap<String, String> = self.values.keys().map(named).collect();
        keys.extend(ALIASES.iter().map(|(name, key)| ((*name).to_owned(), (*key).to_owned())));
        let mut variables: Vec<(String, String)> = variables.collect();
        variables.sort_by_key(|(name, _)| name.starts_with(VARIABLE_PREFIX));
        for (name, text) in variables {
            if let Some(key) = keys.get(&name) {
                let value = self.spelled(key, text);
                self.set(key.clone(), value, Source::Variable(name))?;
            }
        }
        Ok(self)
    }

    /// With what flags say.
    pub fn with_flags<'a>(
        mut self,
        flags: impl Iterator<Item = (&'a str, String)>,
    ) -> Result<Self, ConfigError> {
        for (key, text) in flags {
            let value = self.spelled(key, text);
            self.set(key.to_owned(), value, Source::Flag(format!("--{}", key.replace('_', "-"))))?;
        }
        Ok(self)
    }

    /// Every setting, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value, &Source)> {
        self.values.iter().map(|(key, (value, source))| (key.as_str(), value, source))
    }

    fn set(&mut self, key: String, value: Value, source: Source) -> Result<(), ConfigError> {
        if !self.values.contains_key(&key) {
            let problem = self.unknown(&key);
            return Err(ConfigError::Value { key, source_of: source, problem });
        }
        self.values.insert(key, (value, source));
        Ok(())
    }

    fn unknown(&self, key: &str) -> String {
        let shared =
            |known: &&String| known.chars().zip(key.chars()).filter(|(a, b)| a == b).count();
        let near = self.values.keys().max_by_key(shared);
        let near = near.map(|near| format!("; `{near}` is near")).unwrap_or_default();
        format!("there is no such setting{near}")
    }

    /// A text as the kind of value that the setting has by default.
    fn spelled(&self, key: &str, text: String) -> Value {
        match self.values.get(key).map(|(value, _)| value) {
            Some(Value::Array(_)) => {
                let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
                Value::Array(parts.map(|part| Value::String(part.to_owned())).collect())
            }
            Some(Value::Integer(_) | Value::Float(_)) => number(text),
            Some(Value::Boolean(_)) => {
                text.parse().map(Value::Boolean).unwrap_or(Value::String(text))
            }
            _ => Value::String(text),
        }
    }

    /// An error about a setting.
    pub fn error(&self, key: &str, problem: &str) -> ConfigError {
        self.error_in(key, "", problem)
    }

    /// An error about something inside a setting: `alerts.webhook`, `[0].url`.
    pub fn error_in(&self, key: &str, place: &str, problem: &str) -> ConfigError {
        let source = self.values.get(key).map_or(Source::Default, |(_, source)| source.clone());
        let (key, problem) = (format!("{key}{place}"), problem.to_owned());
        ConfigError::Value { key, source_of: source, problem }
    }

    fn expected(&self, key: &str, what: &str) -> ConfigError {
        let found = self.values.get(key).map(|(value, _)| shown(key, value)).unwrap_or_default();
        self.error(key, &format!("expected {what}, got {found}"))
    }

    /// Whether nobody has said anything about a setting.
    pub fn is_default(&self, key: &str) -> bool {
        matches!(self.values.get(key), Some((_, Source::Default)))
    }

    /// A setting that is a text.
    pub fn text(&self, key: &str) -> Result<String, ConfigError> {
        match self.values.get(key) {
            Some((Value::String(text), _)) => Ok(text.clone()),
            _ => Err(self.expected(key, "a text")),
        }
    }

    /// A setting that is a text of some form.
    pub fn parsed<T: FromStr>(&self, key: &str, what: &str) -> Result<T, ConfigError> {
        self.text(key)?.parse().map_err(|_| self.expected(key, what))
    }

    /// A setting that is a list.
    pub fn list(&self, key: &str) -> Result<Vec<String>, ConfigError> {
        let Some((Value::Array(items), _)) = self.values.get(key) else {
            return Err(self.expected(key, "a list of texts"));
        };
        let text = |item: &Value| item.as_str().map(str::to_owned);
        items
            .iter()
            .map(text)
            .collect::<Option<_>>()
            .ok_or_else(|| self.expected(key, "a list of texts"))
    }

    /// A setting that is a list of tables.
    pub fn tables(&self, key: &str) -> Result<Vec<Table>, ConfigError> {
        let items = self.values.get(key).and_then(|(value, _)| value.as_array());
        let tables =
            items.and_then(|items| items.iter().map(|item| item.as_table().cloned()).collect());
        tables.ok_or_else(|| self.error(key, &format!("expected [[{key}]] tables in the file")))
    }

    /// A setting that is true or false.
    pub fn flag(&self, key: &str) -> Result<bool, ConfigError> {
        let flag = self.values.get(key).and_then(|(value, _)| value.as_bool());
        flag.ok_or_else(|| self.expected(key, "true or false"))
    }

    /// A setting that is a number, whole or not.
    pub fn number(&self, key: &str, min: f64, max: f64) -> Result<f64, ConfigError> {
        let number = self.values.get(key).and_then(|(value, _)| match value {
            Value::Integer(whole) => Some(*whole as f64),
            value => value.as_float(),
        });
        let within = number.filter(|number| (min..=max).contains(number));
        within.ok_or_else(|| self.expected(key, &format!("a number from {min} to {max}")))
    }

    /// A setting in seconds, whole or not, as milliseconds.
    pub fn seconds_ms(&self, key: &str, min_ms: u64, max_ms: u64) -> Result<u64, ConfigError> {
        let seconds = self.number(key, min_ms as f64 / 1000.0, max_ms as f64 / 1000.0)?;
        Ok((seconds * 1000.0).round() as u64)
    }

    /// A setting that is a whole number.
    pub fn whole(&self, key: &str, min: u64, max: u64) -> Result<u64, ConfigError> {
        let number = self.values.get(key).and_then(|(value, _)| value.as_integer());
        let number = number.and_then(|number| u64::try_from(number).ok());
        let within = number.filter(|number| (min..=max).contains(number));
        within.ok_or_else(|| self.expected(key, &format!("a whole number from {min} to {max}")))
    }
}

/// A value as people may see it: a secret, or a URL that may be one, is not shown.
pub fn shown(key: &str, value: &Value) -> String {
    match value {
        Value::Array(items) if items.iter().any(Value::is_table) => {
            let items: Vec<String> = items.iter().map(|item| shown(key, item)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Table(table) => {
            let fields =
                table.iter().map(|(name, value)| format!("{name} = {}", shown(name, value)));
            format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
        }
        Value::String(text) if is_secret(key) && !text.is_empty() => "\"…\"".to_owned(),
        Value::Array(items) if is_secret(key) && !items.is_empty() => "[…]".to_owned(),
        value => value.to_string(),
    }
}

fn is_secret(key: &str) -> bool {
    let name = key.rsplit('.').next().unwrap_or(key);
    // The URLs of alerts stand in tables, by their bare name.
    matches!(name, "secret" | "api_key" | "otlp_headers") || key == "url"
}

/// A text that should be a number; what is none is left for the check to name.
fn number(text: String) -> Value {
    let float = |text: String| text.parse().map(Value::Float).unwrap_or(Value::String(text));
    text.parse().map(Value::Integer).unwrap_or_else(|_| float(text))
}

fn variable_of(key: &str) -> String {
    format!("{VARIABLE_PREFIX}{}", key.replace('.', "_").to_uppercase())
}

fn parse(file: &str, text: &str) -> Result<Table, ConfigError> {
    text.parse().map_err(|error: toml::de::Error| ConfigError::File {
        file: file.to_owned(),
        problem: error.to_string(),
    })
}

/// Every value by its dotted name.
fn flat(table: Table) -> Box<dyn Iterator<Item = (String, Value)>> {
    Box::new(table.into_iter().flat_map(|(key, value)| match value {
        Value::Table(inner) => {
            let below = flat(inner).map(move |(name, value)| (format!("{key}.{name}"), value));
            Box::new(below) as Box<dyn Iterator<Item = (String, Value)>>
        }
        value => Box::new(std::iter::once((key, value))),
    }))
}
