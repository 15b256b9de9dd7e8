/** The page's script: keyboard shortcuts, the countdown to the next search, and the kiosk. */
/// <reference lib="dom" />
import { Kiosk } from "./kiosk.ts";
import { clockOf, fill } from "./texts.ts";

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
  new Kiosk(Number(idle), countDown);
  // Ends the script in the page's head, unless the style sheet is missing. In WebKit, it may load
  // after this script, and a failed one has no rules.
  const end = () => {
    if (document.styleSheets[0]?.cssRules.length) dispatchEvent(new Event("kiosk"));
  };
  addEventListener("load", end, true);
  end();
}

/** Counts down to the next search on the page that is shown, if it is a refusal. */
function countDown(): void {
  const wait = document.querySelector<HTMLElement>(".wait");
  if (!wait) return;
  const again = wait.nextElementSibling as HTMLElement;
  const { seconds, text = "" } = wait.dataset;

  // The wall clock, because other clocks may stop while the device sleeps.
  const until = Date.now() + 1000 * Number(seconds);
  const timer = setInterval(() => {
    // A kiosk shows another page by now.
    if (!wait.isConnected) {
      clearInterval(timer);
      return;
    }
    const left = Math.max(0, Math.ceil((until - Date.now()) / 1000));
    wait.textContent = fill(text, { time: clockOf(left) });
    wait.hidden = !left;
    again.hidden = left > 0;
  }, 1000);
}
