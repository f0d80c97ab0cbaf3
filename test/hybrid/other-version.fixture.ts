import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { features, protocolRange } from '../../src/control/hybrid/protocol/messages.ts';
import { previousVersion } from '../support/previous-version.ts';

const root = join(import.meta.dirname, '../..');
const messages = 'src/control/hybrid/protocol/messages.ts';
const versionFile = 'src/version.ts';
const ownVersion = /^export const version = '([^']+)';$/m;

export interface OtherVersion {
  /** The command line: `node <entry> start`. */
  readonly entry: string;
  /** As it names itself. */
  readonly version: string;
}

/**
 * The version before this one. Where that has no control planes yet, it is a copy of this tree with another version number, whose protocol
 * is one version older; while there is only one, the copy is the newer of the two: it speaks the next version of the protocol, too, and
 * has an ability and members in its messages that this tree does not know.
 */
export async function neighbourVersion(): Promise<OtherVersion> {
  const previous = await previousVersion();
  if (existsSync(join(previous.folder, 'src/control/hybrid/server'))) {
    return { entry: previous.entry, version: versionOf(previous.folder) };
  }
  const { min, max } = protocolRange;
  if (max > min) return copied({ range: { min, max: max - 1 }, features: features.slice(0, -1), addsMembers: false });
  return copied({ range: { min, max: max + 1 }, features: [...features, 'of-the-next-version'], addsMembers: true });
}

/** A version so new that it has no version of the protocol in common with this one. */
export async function incompatibleVersion(): Promise<OtherVersion> {
  const next = protocolRange.max + 1;
  return copied({ range: { min: next, max: next }, features, addsMembers: true });
}

interface Changes {
  readonly range: { readonly min: number; readonly max: number };
  readonly features: readonly string[];
  readonly addsMembers: boolean;
}

function copied({ range, features: abilities, addsMembers }: Changes): OtherVersion {
  const folder = mkdtempSync(join(tmpdir(), 'sluicegate-other-version-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const name of ['src', 'bin', 'package.json']) cpSync(join(root, name), join(folder, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const version = `${versionOf(root)}-other`;
  change(join(folder, versionFile), ownVersion, `export const version = '${version}';`);
  const list = `protocolRange: ProtocolRange = { min: ${range.min}, max: ${range.max} }`;
  change(join(folder, messages), /protocolRange: ProtocolRange = \{[^}]*\}/, list);
  change(
    join(folder, messages),
    /features: readonly string\[\] = \[[^\]]*\]/,
    `features: readonly string[] = ${JSON.stringify(abilities)}`,
  );
  if (addsMembers) {
    const added = "{ ofTheNextVersion: { nested: ['value'] }, ";
    change(join(folder, 'src/control/hybrid/client/link-session.ts'), /\{\s*(?=t: 'hello',)/, added);
    change(join(folder, 'src/control/hybrid/server/data-plane-session.ts'), /\{\s*(?=t: 'welcome',)/, added);
  }
  return { entry: join(folder, 'src/main.ts'), version };
}

/** Node removes types without checking them, so an unknown member needs no declaration. */
function change(path: string, pattern: RegExp, text: string): void {
  const before = readFileSync(path, 'utf8');
  if (!pattern.test(before)) throw new Error(`${path} does not contain ${pattern}`);
  writeFileSync(
    path,
    before.replace(pattern, () => text),
  );
}

function versionOf(folder: string): string {
  const [, found] = ownVersion.exec(readFileSync(join(folder, versionFile), 'utf8')) ?? [];
  if (found === undefined) throw new Error(`${folder} has no version`);
  return found;
}
