import "uplot/dist/uPlot.min.css";
import "./style.css";

import { render } from "preact";

import { App } from "./App.tsx";
import { startEvents } from "./live/events.ts";
import { startKeys } from "./ui/keys.ts";
import { startTheme } from "./ui/theme.ts";

startTheme();
startKeys();
startEvents();
const root = document.getElementById("app");
if (root) render(<App />, root);
