import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { DocumentError } from '../../../../control/declarative/contract.ts';
import { parseDocument } from '../../../../control/declarative/document/parse-document.ts';
import { CliError } from '../../../cli-error.ts';
import { type Fields, type KongSource, shown } from '../kong-entity.ts';
import { withLabels } from './entity-labels.ts';
import { flattenDocument } from './flatten-document.ts';

/** Bytes of one file. */
const maxFileSize = 256 * 1024 * 1024;

const knownFormats = ['1.1', '2.1', '3.0'];

/** Reads dumps of decK and files of `kong config db_export`, YAML or JSON; several files are one config. Throws a `CliError`. */
export function readKongFiles(files: readonly string[], directory: string): KongSource {
  const contents = files.map((file) => contentOf(file, directory));
  const formats = new Set(contents.map((content, at) => formatOf(content, files[at] ?? '')));
  const [format = '3.0', other] = formats;
  if (other !== undefined) throw new CliError(`the files have different formats: ${format} and ${other}`);
  const entities = contents.flatMap((content, at) => flattenDocument(content, files[at] ?? ''));
  return {
    version: null,
    format,
    entities: withLabels(entities),
    hashedPasswords: contents.some(hasHashes),
    unread: [],
  };
}

/** decK's dumps contain hashes and do not say so. A file with `_transform: true` contains passwords. */
function hasHashes(content: Fields): boolean {
  return content['_transform'] !== true;
}

function formatOf(content: Fields, file: string): string {
  const format = content['_format_version'];
  if (typeof format === 'string' && knownFormats.includes(format)) return format;
  throw new CliError(`${file}: _format_version must be one of ${knownFormats.map((one) => `"${one}"`).join(', ')}`);
}

function contentOf(file: string, directory: string): Fields {
  try {
    const path = resolve(directory, file);
    if (statSync(path).size > maxFileSize) throw new CliError(`${file} is larger than ${maxFileSize} bytes`);
    return parseDocument(readFileSync(path, 'utf8'), { deck: true }).content;
  } catch (error) {
    if (error instanceof CliError) throw error;
    if (!(error instanceof DocumentError)) {
      throw new CliError(`cannot read ${file}: ${error instanceof Error ? error.message : error}`);
    }
    const place = error.position === null ? '' : ` line ${error.position.line}:`;
    throw new CliError(`${file}:${place} ${shown(error.message)}`);
  }
}
