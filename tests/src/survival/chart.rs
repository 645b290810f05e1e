//! The table as a picture.

use super::{Reached, Row};

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 360.0;
const MARGIN: f64 = 56.0;

struct Curve {
    name: &'static str,
    colour: &'static str,
    of: fn(&Row) -> &Reached,
}

const CURVES: [Curve; 3] = [
    Curve { name: "Memory Spine", colour: "#0a7d5a", of: |row| &row.spine },
    Curve { name: "transcript, cut to the budget", colour: "#b26a00", of: |row| &row.transcript },
    Curve { name: "plain summaries", colour: "#b3261e", of: |row| &row.summaries },
];

/// The share of needed facts that reach the last agent, by the length of the chain.
pub fn svg(rows: &[Row]) -> String {
    let grid: String = [0.0, 0.25, 0.5, 0.75, 1.0].iter().map(|share| grid_line(*share)).collect();
    let ticks: String = rows.iter().map(|row| tick(rows, row)).collect();
    let curves: String =
        CURVES.iter().enumerate().map(|(index, curve)| drawn(rows, curve, index)).collect();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <text x=\"{MARGIN}\" y=\"24\" font-size=\"15\">Needed facts that reach the last agent, by agents in the chain</text>\n\
         {grid}{ticks}{curves}</svg>\n"
    )
}

fn x(rows: &[Row], row: &Row) -> f64 {
    let (first, last) = (rows.first().map_or(0, |r| r.agents), rows.last().map_or(1, |r| r.agents));
    let share = (row.agents - first) as f64 / (last - first).max(1) as f64;
    MARGIN + share * (WIDTH - 2.0 * MARGIN)
}

fn y(share: f64) -> f64 {
    HEIGHT - MARGIN - share * (HEIGHT - 2.0 * MARGIN - 16.0)
}

fn grid_line(share: f64) -> String {
    let (y, right) = (y(share), WIDTH - MARGIN);
    let label = format!(
        "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"#555\">{:.0} %</text>\n",
        MARGIN - 8.0,
        y + 4.0,
        share * 100.0
    );
    format!(
        "<line x1=\"{MARGIN}\" y1=\"{y:.1}\" x2=\"{right}\" y2=\"{y:.1}\" stroke=\"#ddd\"/>\n{label}"
    )
}

fn tick(rows: &[Row], row: &Row) -> String {
    let below = HEIGHT - MARGIN + 20.0;
    format!(
        "<text x=\"{:.1}\" y=\"{below}\" text-anchor=\"middle\" fill=\"#555\">{}</text>\n",
        x(rows, row),
        row.agents
    )
}

fn drawn(rows: &[Row], curve: &Curve, index: usize) -> String {
    let point = |row: &Row| format!("{:.1},{:.1}", x(rows, row), y((curve.of)(row).facts()));
    let points: Vec<String> = rows.iter().map(point).collect();
    let (colour, legend_x) = (curve.colour, MARGIN + 210.0 * index as f64);
    let legend_y = HEIGHT - 12.0;
    format!(
        "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"2.5\" points=\"{}\"/>\n\
         <text x=\"{legend_x}\" y=\"{legend_y}\" fill=\"{colour}\">— {}</text>\n",
        points.join(" "),
        curve.name
    )
}
