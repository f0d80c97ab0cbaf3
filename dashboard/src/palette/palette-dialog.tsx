import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { callerQuery, nodeQuery, schemaListQuery } from '../api/queries.ts';
import {
  actionCommands,
  additionCommands,
  type Command,
  type CommandGroup,
  entityCommands,
  matching,
  pageCommands,
  readAddition,
} from './commands.ts';
import './palette.css';
import { searchQuery, useSettled } from './search-query.ts';

/** Lines of each group. */
const maxLines = 12;

/** Finds entities, pages and actions by their text; the gateway searches the entities. */
export default function PaletteDialog({ onClose }: { readonly onClose: () => void }) {
  const router = useRouter();
  const [text, setText] = useState('');
  const { groups, problem, pending, complete } = useGroups(text.trim());

  function run({ act }: Command): void {
    onClose();
    if (typeof act === 'function') {
      act();
      return;
    }
    const query = new URLSearchParams(act.search ?? {}).toString();
    void router.navigate({ href: `${act.to}${query === '' ? '' : `?${query}`}` });
  }

  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog palette" aria-label="Search and commands">
          <Autocomplete.Root
            open
            inline
            items={groups}
            filter={null}
            value={text}
            onValueChange={setText}
            itemToStringValue={({ title }: Command) => title}
            autoHighlight="always"
            keepHighlight
          >
            <Autocomplete.Input
              className="palette-input"
              aria-label="Search everything"
              placeholder="Search by name, path, host, id, tag; or: new route, add cors to …"
              spellCheck={false}
              maxLength={200}
            />
            <div className="palette-list">
              <Autocomplete.Empty>
                {text.trim() !== '' && !pending && problem === null && <p className="muted">Nothing matches.</p>}
              </Autocomplete.Empty>
              <Autocomplete.List>
                {(group: CommandGroup) => (
                  <Autocomplete.Group key={group.value} items={group.items} className="palette-group">
                    <Autocomplete.GroupLabel className="nav-title">{group.value}</Autocomplete.GroupLabel>
                    <Autocomplete.Collection>
                      {(command: Command) => (
                        <Autocomplete.Item
                          key={command.id}
                          value={command}
                          className="option"
                          onClick={() => run(command)}
                        >
                          <span className="truncate">{command.title}</span>
                          <span className="truncate small muted">{command.note}</span>
                        </Autocomplete.Item>
                      )}
                    </Autocomplete.Collection>
                  </Autocomplete.Group>
                )}
              </Autocomplete.List>
            </div>
            <Autocomplete.Status className="palette-status small muted">
              {problem ??
                (pending ? 'Searching…' : complete ? '' : 'There are too many entities: not all were searched.')}
            </Autocomplete.Status>
          </Autocomplete.Root>
          <Dialog.Close className="visually-hidden">Close</Dialog.Close>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

interface Groups {
  readonly groups: readonly CommandGroup[];
  /** Why entities could not be searched; null: they were. */
  readonly problem: string | null;
  readonly pending: boolean;
  readonly complete: boolean;
}

function useGroups(text: string): Groups {
  const { data: schemas } = useQuery(schemaListQuery);
  const { data: caller } = useQuery(callerQuery);
  const { data: node } = useQuery(nodeQuery);
  const addition = readAddition(text);
  const wanted = useSettled(addition === null ? text : addition.target);
  const { data, error, isFetching, isPlaceholderData } = useQuery({
    ...searchQuery(wanted),
    placeholderData: keepPreviousData,
  });
  const found = wanted === '' ? undefined : data;
  const settled = wanted === (addition === null ? text : addition.target);
  const isOld = isPlaceholderData || !settled;
  const groups = useMemo(() => {
    if (schemas === undefined || caller === undefined || node === undefined) return [];
    const known = { schemas, caller, node };
    const entities = found?.data ?? [];
    // Until the next answer is there, what the last one had in common with it.
    const fittingEntities = (commands: readonly Command[]): readonly Command[] =>
      isOld ? matching(commands, text, commands.length) : commands;
    return [
      { value: 'Pages', items: matching(pageCommands(known), text, maxLines) },
      { value: 'Actions', items: matching(actionCommands(known), text, maxLines) },
      { value: 'Add a plugin', items: additionCommands(known, text, entities).slice(0, maxLines) },
      { value: 'Entities', items: addition === null ? fittingEntities(entityCommands(known, entities)) : [] },
    ].filter(({ items }) => items.length > 0);
  }, [schemas, caller, node, text, found, addition, isOld]);
  return {
    groups,
    problem: error === null ? null : error.message,
    pending: isFetching || !settled,
    complete: found?.complete ?? true,
  };
}
