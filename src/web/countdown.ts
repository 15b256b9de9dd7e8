/** The script of a page that says when the next search is allowed. */
/// <reference lib="dom" />
import { clockOf } from "./translation.ts";

/** Counts down to the next search on the page that is shown, if it is a refusal. */
export function countDown(): void {
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
    wait.textContent = text.replace("{time}", clockOf(left));
    wait.hidden = !left;
    again.hidden = left > 0;
  }, 1000);
}
