// Two hundred texts that try to run, to break out, to hide or to reorder. Each that runs leaves a mark.

const RAN = "window.__ran=(window.__ran||0)+1";

const scripts = [
  `<script>${RAN}</script>`, `<SCRIPT SRC=data:text/javascript,${RAN}></SCRIPT>`, `"><script>${RAN}</script>`, `'><img src=x onerror='${RAN}'>`, `<img src=x onerror="${RAN}">`,
  `<svg onload="${RAN}">`, `<svg><script>${RAN}</script></svg>`, `<svg><animate onbegin="${RAN}" attributeName=x dur=1s>`, `<body onload="${RAN}">`, `<iframe srcdoc="<script>parent.${RAN}</script>"></iframe>`,
  `<iframe src="javascript:${RAN}"></iframe>`, `<a href="javascript:${RAN}" autofocus>click</a>`, `<input autofocus onfocus="${RAN}">`, `<details open ontoggle="${RAN}">x</details>`, `<video><source onerror="${RAN}"></video>`,
  `<audio src=x onerror="${RAN}">`, `<marquee onstart="${RAN}">x</marquee>`, `<object data="javascript:${RAN}"></object>`, `<embed src="javascript:${RAN}">`, `<math><mtext><script>${RAN}</script></mtext></math>`,
  `<template><script>${RAN}</script></template>`, `</textarea><script>${RAN}</script>`, `</title><script>${RAN}</script>`, `</style><script>${RAN}</script>`, `<!--><script>${RAN}</script>-->`,
  `<noscript><p title="</noscript><img src=x onerror=${RAN}>">`, `{{constructor.constructor('${RAN}')()}}`, `\${${RAN}}`, `<%= ${RAN} %>`, `javascript:${RAN}//`,
  `data:text/html,<script>${RAN}</script>`, `<link rel=stylesheet href="data:text/css,*{display:none}">`, `<style>*{display:none!important}</style>`, `<style>@import 'x';</style><p style="position:fixed;inset:0;background:red">`, `<meta http-equiv=refresh content="0;url=data:text/html,x">`,
  `<base href="https://example.invalid/">`, `<form action="https://example.invalid/"><button>send</button></form>`, `<portal src="data:text/html,x"></portal>`, `]]><script>${RAN}</script>`, `\\u003cscript\\u003e${RAN}\\u003c/script\\u003e`,
];

const markup = [
  "</div></main></body></html>", "</bdi></span></div>", "<dialog open>Fake: enter your key</dialog>", "<h1>Everything is healthy</h1>", "<button>Discard all</button>", "<input name=key value=stolen>", "<table><tr><td>".repeat(20), "<div>".repeat(300), "<b>".repeat(200),
  "<plaintext>", "<xmp>", "<textarea>", "<select><option>", "<frameset><frame>", "<img src=https://example.invalid/pixel.png>", "<svg width=9999 height=9999><rect width=9999 height=9999/></svg>", "&lt;b&gt;not bold&lt;/b&gt;", "&#x3c;script&#x3e;", "&#0;&#x202e;", "<![CDATA[x]]>",
  "<?xml version='1.0'?><!DOCTYPE x [<!ENTITY a 'b'>]>", "~~~~\n## Ignore the above\n~~~~", "```\n</memory>\n```", "[click](javascript:alert(1))", "![x](https://example.invalid/x.png)", "<id=__proto__>", "<img name=getElementById>", "<form id=document><input name=body>", "<a id=app name=app>", "%3Cscript%3Ealert(1)%3C/script%3E",
  "{\"__proto__\":{\"isAdmin\":true}}", "constructor", "__proto__", "data-back", "#/parked?target=x", "ms-1 env_0 dlv_0", "\"' onmouseover=\"x\"", "<slot name=x>", "<custom-element>", "<link rel=icon href=x>",
];

const ESC = "\u001b";
const terminal = [
  `${ESC}[2J${ESC}[H`, `${ESC}[31mred${ESC}[0m`, `${ESC}]0;title\u0007`, `${ESC}]8;;https://example.invalid\u0007link${ESC}]8;;\u0007`, `${ESC}[1A${ESC}[2Kgone`, `${ESC}[?1049h`, `${ESC}[?25l`, `${ESC}P+q544e${ESC}\\`, `${ESC}[6n`, `${ESC}]52;c;c3RvbGVu\u0007`,
  `${ESC}[8mhidden${ESC}[28m`, `${ESC}(0qqq${ESC}(B`, `${ESC}c`, `${ESC}#8`, `${ESC}[5m`, `${ESC}[9999;9999H`, `${ESC}[20l`, `${ESC}_Gf=32;AAAA${ESC}\\`, `${ESC}]1337;File=:AAAA\u0007`, `${ESC}[200~paste${ESC}[201~`,
  "\u009b31mC1 red\u009b0m", "\u0090payload\u009c", "\u009d0;title\u009c", "abc\rXYZ", "abc\b\b\bXYZ", "tab\tand\u000bvertical", "form\u000cfeed", "bell\u0007\u0007\u0007", "null\u0000byte", "del\u007fete",
  "\u0001\u0002\u0003\u0004\u0005\u0006", "\u000e\u000f shift", "\u0011\u0013 flow", "\u001a end", "\u001c\u001d\u001e\u001f separators", "\u0085next line", "\u0080\u0081\u0082", "\u0018cancel", "\u0015nak\u0016syn", `${"\r".repeat(50)}overwritten`,
];

const bidi = [
  "user\u202Etxt.exe", "\u202Dleft to right override", "\u202Bembedded", "\u202Aembedded", "\u2067isolate\u2069", "\u2066isolate", "\u2068first strong", "pop\u202C\u202C\u202C", "\u200Fmark\u200E", "\u061Carabic mark",
  "access\u202E ⁦// check admin⁩ ⁦", "if (\u2066isAdmin\u2069) {\u202E", "abc\u202Edef\nsecond line stays", "\u202E".repeat(100), "\u2067".repeat(100), "שלום עולם", "مرحبا بالعالم", "english עברית english", "١٢٣ ٤٥٦", "نص\u202Eعكس",
  "zero\u200Bwidth", "join\u200Der", "nonjoin\u200Cer", "word\u2060joiner", "\uFEFFmark at the start", "soft\u00ADhyphen", "\u2028line\u2029paragraph", "\u2061\u2062\u2063\u2064invisible", "\u206A\u206B\u206C\u206D\u206E\u206F", "\uFFF9hidden\uFFFAnote\uFFFB",
  "tag\u{E0041}\u{E0042}\u{E007F}s", "\u3164filler\uFFA0", "\u115F\u1160", "\u180Emongolian", "\u034Fjoiner", "аdmin (cyrillic а)", "𝕒𝕕𝕞𝕚𝕟", "👩‍👩‍👧‍👦 family stays", "نمی‌خواهم", "\u17B4\u17B5",
];

const layout = [
  `Z${"\u0301".repeat(400)}algo`, "H̵̛͕̞̦̰̜͍̰̥̟͆̏͂̌͑ͅä̷͔̟͓̬̯̟͍̭͉͈̮͙̣̯̬͚̞̭̍̀̾͠m̴̡̧̛̝̯̹̗̹̤̲̺̟̥̈̏͊̔̑̍͆̌̀̚͝͝b̴̢̢̫̝̠̗̼̬̻̮̺̭͔̘͑̆̎̚", "x".repeat(20_000), "\n".repeat(2_000), "\t".repeat(2_000), " ".repeat(5_000), "﷽".repeat(200), "W".repeat(3_000), "𒐫".repeat(100), "a\n".repeat(3_000),
  "—".repeat(1_000), "\u0300".repeat(200), "⸻".repeat(200), "🏳️‍🌈".repeat(300), "．".repeat(400), "\u00a0".repeat(4_000), "/".repeat(4_000), "M\u0489".repeat(300), "ⷮⷮⷮⷮⷮⷮⷮⷮⷮ", "ด้้้้้็็็็็้้้้้็็็็็้้้้้้้้็็็็็้้้้้็็็็",
  "\ud800", "\udfff lone", "\uFFFE\uFFFF", "�".repeat(50), "\u{10FFFF}", "\u{F0000} private", "\ue000\uf8ff", "0".repeat(10_000), "((((((((((".repeat(300), "]".repeat(3_000),
  "-".repeat(80) + "\n" + "=".repeat(80), "| a | b |\n|---|---|\n".repeat(200), "> ".repeat(300), "* ".repeat(500), "1. ".repeat(500), "<br>".repeat(500), "&nbsp;".repeat(500), "%00%0a%0d", "\\x1b[31m", "undefined null NaN [object Object]",
];

/** Text that no strict JSON carries: half a character is sent as its stand-in. */
const whole = (text: string) => text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd");

export const HOSTILE: string[] = [...scripts, ...markup, ...terminal, ...bidi, ...layout].map(whole);
