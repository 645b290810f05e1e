import { useEffect, useRef } from "preact/hooks";

import { SHORTCUTS, helpShown } from "./keys.ts";

export function Help() {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => element.current?.showModal(), []);
  const close = () => {
    helpShown.value = false;
  };
  return (
    <dialog ref={element} onClose={close} aria-label="Keyboard">
      <h2>Keyboard</h2>
      <table class="plain">
        <tbody>
          {SHORTCUTS.map(([keys, does]) => (
            <tr key={keys}>
              <td>
                {keys.split(" ").map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </td>
              <td>{does}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <footer>
        <button onClick={close}>Close</button>
      </footer>
    </dialog>
  );
}
