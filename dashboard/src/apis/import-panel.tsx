import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId, useRef, useState } from 'react';
import { ApiError } from '../api/client.ts';
import { useLateNavigation } from '../layout/late-navigation.ts';
import {
  emptyInput,
  type ImportInput,
  type ImportResult,
  importDocument,
  maxDocument,
  placeIn,
} from './import-document.ts';
import { ImportPreview } from './import-preview.tsx';

/** Takes a document, shows what it would make, and imports it. */
export function ImportPanel({ onClose }: { readonly onClose: () => void }) {
  const client = useQueryClient();
  const beginNavigation = useLateNavigation();
  const [input, setInput] = useState(emptyInput);
  const [preview, setPreview] = useState<ImportResult | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const text = useRef<HTMLTextAreaElement>(null);
  const id = useId();

  /** What is shown is always what would be imported. */
  function change(next: Partial<ImportInput>): void {
    setInput((before) => ({ ...before, ...next }));
    setPreview(null);
    setProblem(null);
  }

  async function choose(file: File | undefined): Promise<void> {
    if (file === undefined) return;
    if (file.size > maxDocument * 4) return setProblem(new Error(`${file.name} is larger than the maximum of 1 MiB.`));
    change({ document: await file.text() });
  }

  async function run(dryRun: boolean): Promise<void> {
    const navigate = beginNavigation();
    setBusy(true);
    setProblem(null);
    try {
      const result = await importDocument(input, dryRun);
      if (dryRun) return setPreview(result);
      await client.invalidateQueries();
      await navigate({ to: '/apis/$id', params: { id: result.api.id } });
    } catch (error) {
      setPreview(null);
      setProblem(error);
    } finally {
      setBusy(false);
    }
  }

  function submit(event: FormEvent): void {
    event.preventDefault();
    if (input.document.trim() === '') setProblem(new Error('Paste a document, or choose a file.'));
    else void run(true);
  }

  function showPlace(place: string): void {
    const found = placeIn(input.document, place);
    if (found === null || text.current === null) return;
    text.current.focus();
    text.current.setSelectionRange(found.start, found.end);
    // Browsers do not scroll a text area to its selection.
    const before = input.document.slice(0, found.start).split('\n').length;
    const lines = input.document.split('\n').length;
    text.current.scrollTop = (text.current.scrollHeight * Math.max(0, before - 4)) / lines;
  }

  return (
    <section className="card card-pad stack import-panel" aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>Import an OpenAPI document</h2>
      <p className="muted">Version 3.0 or 3.1, JSON or YAML, at most 1 MiB. Nothing is written before you confirm.</p>
      <form className="stack" onSubmit={submit} noValidate>
        <div>
          <label htmlFor={`${id}-file`}>File</label>
          <input
            id={`${id}-file`}
            type="file"
            className="input"
            accept=".json,.yaml,.yml,application/json,application/yaml"
            onChange={(event) => void choose(event.target.files?.[0])}
          />
        </div>
        <div>
          <label htmlFor={`${id}-text`}>Document</label>
          <textarea
            id={`${id}-text`}
            ref={text}
            className="input mono import-text"
            rows={10}
            spellCheck={false}
            value={input.document}
            aria-invalid={problem !== null}
            aria-describedby={problem === null ? undefined : `${id}-problem`}
            onChange={(event) => change({ document: event.target.value })}
          />
        </div>
        {problem !== null && <Problem id={`${id}-problem`} problem={problem} onShow={showPlace} />}
        <details className="more">
          <summary>Options</summary>
          <div className="import-options">
            <TextOption
              label="Name of the service"
              hint="Default: the title"
              value={input.name}
              onChange={(name) => change({ name })}
            />
            <TextOption
              label="Server"
              hint="A number from 1, or a URL"
              value={input.server}
              onChange={(server) => change({ server })}
            />
            <TextOption
              label="Prefix of route names"
              hint="Default: none"
              value={input.prefix}
              onChange={(prefix) => change({ prefix })}
            />
            <TextOption label="Tags" hint="With commas" value={input.tags} onChange={(tags) => change({ tags })} />
            <label className="chip-check">
              <input
                type="checkbox"
                checked={input.validate}
                onChange={(event) => change({ validate: event.target.checked })}
              />
              Validate requests by the document
            </label>
          </div>
        </details>
        <div className="row">
          <button type="submit" className={preview === null ? 'button primary' : 'button'} disabled={busy}>
            {busy && preview === null ? 'Checking…' : 'Preview'}
          </button>
          <button type="button" className="button plain" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
      {preview !== null && (
        <ImportPreview preview={preview} busy={busy} onShow={showPlace} onImport={() => void run(false)} />
      )}
    </section>
  );
}

interface TextOptionProps {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function TextOption({ label, hint, value, onChange }: TextOptionProps) {
  const id = useId();
  return (
    <div>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className="input"
        placeholder={hint}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  );
}

interface ProblemProps {
  readonly id: string;
  readonly problem: unknown;
  readonly onShow: (place: string) => void;
}

function Problem({ id, problem, onShow }: ProblemProps) {
  const place = problem instanceof ApiError ? problem.place : null;
  const message = problem instanceof Error ? problem.message : String(problem);
  return (
    <div id={id} role="alert" className="banner error import-problem">
      <p>{message}</p>
      {place !== null && place !== '' && (
        <button type="button" className="button tight" onClick={() => onShow(place)}>
          Show <code>{place}</code>
        </button>
      )}
    </div>
  );
}
