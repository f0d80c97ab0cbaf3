import { AlertDialog } from '@base-ui/react/alert-dialog';
import { type ReactElement, type ReactNode, useState } from 'react';

interface ConfirmDialogProps {
  readonly trigger: ReactElement;
  readonly title: string;
  readonly action: string;
  readonly children: ReactNode;
  /** A rejection is shown in the dialog. */
  readonly onConfirm: () => Promise<void>;
}

export function ConfirmDialog({ trigger, title, action, children, onConfirm }: ConfirmDialogProps) {
  const [open, setOpen] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);

  async function confirm(): Promise<void> {
    setBusy(true);
    setProblem(null);
    try {
      await onConfirm();
      setOpen(false);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  }

  return (
    <AlertDialog.Root open={open} onOpenChange={setOpen}>
      <AlertDialog.Trigger render={trigger} />
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="backdrop" />
        <AlertDialog.Popup className="dialog">
          <AlertDialog.Title>{title}</AlertDialog.Title>
          <AlertDialog.Description render={<div />}>{children}</AlertDialog.Description>
          {problem !== null && (
            <p role="alert" className="banner error">
              {problem}
            </p>
          )}
          <div className="row">
            <button type="button" className="button danger" disabled={busy} onClick={() => void confirm()}>
              {action}
            </button>
            <AlertDialog.Close className="button">Cancel</AlertDialog.Close>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
