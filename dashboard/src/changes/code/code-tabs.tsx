import { Tabs } from '@base-ui/react/tabs';
import { type ReactNode, useState } from 'react';
import { apiRoot } from '../../api/client.ts';
import { readToken } from '../../session/session.ts';
import { CopyButton } from '../copy-button.tsx';
import type { PlannedWrite } from '../planned-write.ts';
import { secretText } from '../secrets.ts';
import { curlText } from './curl.ts';
import { typescriptText } from './typescript.ts';

interface CodeTabsProps {
  /** Without secrets. */
  readonly writes: readonly PlannedWrite[];
  /** The tab with the file of decK; it is made only when it is shown. */
  readonly deck: ReactNode;
}

/** An action as a command, as a file and as a program. */
export function CodeTabs({ writes, deck }: CodeTabsProps) {
  const [tab, setTab] = useState<'curl' | 'deck' | 'typescript'>('curl');
  const options = { address: `${location.origin}${apiRoot}`, signed: readToken() !== null };
  return (
    <Tabs.Root value={tab} onValueChange={setTab} className="code-tabs">
      <Tabs.List className="tabs" aria-label="As code">
        <Tabs.Tab className="tab" value="curl">
          curl
        </Tabs.Tab>
        <Tabs.Tab className="tab" value="deck">
          decK
        </Tabs.Tab>
        <Tabs.Tab className="tab" value="typescript">
          TypeScript
        </Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="curl" tabIndex={-1}>
        <CodeBlock text={curlText(writes, options)} label="the command" />
      </Tabs.Panel>
      <Tabs.Panel value="deck" tabIndex={-1}>
        {deck}
      </Tabs.Panel>
      <Tabs.Panel value="typescript" tabIndex={-1}>
        <CodeBlock text={typescriptText(writes, options)} label="the program" />
      </Tabs.Panel>
    </Tabs.Root>
  );
}

export function CodeBlock({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <div className="stack">
      <section aria-label={label}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard */}
        <pre className="code" tabIndex={0}>
          {text}
        </pre>
      </section>
      {text.includes(secretText) && (
        <p className="small muted">
          Replace <code>{secretText}</code> before you run it.
        </p>
      )}
      <CopyButton text={text} label={label} />
    </div>
  );
}
