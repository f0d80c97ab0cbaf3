import { Dialog } from '@base-ui/react/dialog';
import { commandKey } from './palette-request.ts';
import './palette.css';

/** Only with a modifier: single keys would act while somebody dictates a text (WCAG 2.1.4). */
const shortcuts: readonly (readonly [keys: readonly string[], what: string])[] = [
  [[commandKey, 'K'], 'Search everything, go to a page, or do something'],
  [[commandKey, '/'], 'Show these shortcuts'],
  [['↑', '↓'], 'Choose from a list'],
  [['Enter'], 'Open what is chosen; in a form, save'],
  [['Esc'], 'Close a dialog or a list'],
  [['Tab'], 'Go to the next control; the first one skips the navigation'],
];

export function ShortcutsDialog({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog">
          <Dialog.Title>Keyboard shortcuts</Dialog.Title>
          <dl className="shortcuts">
            {shortcuts.map(([keys, what]) => (
              <div key={what}>
                <dt>
                  {keys.map((key) => (
                    <kbd key={key}>{key}</kbd>
                  ))}
                </dt>
                <dd>{what}</dd>
              </div>
            ))}
          </dl>
          <div className="row">
            <Dialog.Close className="button">Close</Dialog.Close>
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
