/** The page's script: keyboard shortcuts, the countdown to the next search, and the kiosk. */
/// <reference lib="dom" />
import { countDown } from "./countdown.ts";
import { Kiosk } from "./kiosk.ts";

/** `idle` is --kiosk-idle in milliseconds, or empty if this is no kiosk. */
const { idle } = (document.currentScript as HTMLScriptElement).dataset;

const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  const stops = [...document.querySelectorAll<HTMLElement>("#q, .board a")];
  const step = steps[key] ?? 0;
  // Before anything has focus, ArrowDown moves to the first result.
  const next = step && stops[Math.max(stops.indexOf(target as HTMLElement), 0) + step];
  const [field] = stops;
  if (key === "/" && target !== field) (field as HTMLInputElement).select();
  else if (next) next.focus();
  else return;
  event.preventDefault();
});

countDown();
if (idle) {
  new Kiosk(Number(idle));
  // Ends the script in the page's head, unless the style sheet is missing. In WebKit, it may load
  // after this script, and a failed one has no rules.
  const end = () => {
    if (document.styleSheets[0]?.cssRules.length) dispatchEvent(new Event("kiosk"));
  };
  addEventListener("load", end, true);
  end();
}
