import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type PluginCode, pluginCode } from './plugin-code.ts';
import { belongs, rootOf } from './plugin-root.ts';
import { type RecordedModule, recordModule } from './recorded-module.ts';
import { versionLength } from './version-url.ts';

/** Of the code of one plugin. */
export const maxFiles = 10_000;
export const maxBytes = 64 * 1024 ** 2;

/** Notes what is loaded for one plugin. */
export class Recording {
  readonly file: string;
  readonly root: string;
  /** Stands for the version in URLs while the version is not known. */
  readonly token = randomBytes(versionLength / 2).toString('hex');
  readonly #modules = new Map<string, RecordedModule>();
  #bytes = 0;

  constructor(file: string) {
    this.file = file;
    this.root = rootOf(file);
  }

  /** Throws at the limits. */
  add(url: string, module: RecordedModule): void {
    if (this.#modules.has(url)) return;
    this.#modules.set(url, module);
    this.#bytes += module.source.length;
    if (this.#modules.size > maxFiles) throw new Error(`the plugin has more than ${maxFiles} modules`);
    if (this.#bytes > maxBytes) throw new Error(`the modules of the plugin have more than ${maxBytes / 1024 ** 2} MB`);
  }

  /** What was loaded, and what its `import()`s would load. */
  code(): PluginCode {
    this.#addLateImports();
    return pluginCode(this.file, this.#modules);
  }

  #addLateImports(): void {
    const loaded = [...this.#modules].filter(([, { fixed }]) => !fixed);
    const scripts = loaded.some(([url, { format }]) => url.endsWith('.js') && format === 'module');
    const queue = loaded.flatMap(([url, { source }]) => specifiers(source, late).map((name) => [url, name] as const));
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      const [parent, name] = next;
      const url = new URL(name, parent).href;
      if (this.#modules.has(url) || !belongs(url, this.root, name) || !isModule(url, scripts)) continue;
      const path = fileURLToPath(url);
      if (!existsSync(path)) continue;
      const text = readFileSync(path, 'utf8');
      try {
        this.add(url, recordModule(url, formatByName(url), text));
      } catch {
        // Reported when it is loaded, if ever.
        continue;
      }
      for (const found of [...specifiers(text, late), ...specifiers(text, early)]) queue.push([url, found]);
    }
  }
}

const late = /\bimport\s*\(\s*(['"])(\.\.?\/[^'"\n]+)\1/g;
const early = /^\s*(?:import|export)\b(?!\s+type\b)[^'"();]*(['"])(\.\.?\/[^'"\n]+)\1/gm;

function specifiers(source: string | Uint8Array, pattern: RegExp): readonly string[] {
  return typeof source === 'string' ? [...source.matchAll(pattern)].map(([, , name = '']) => name) : [];
}

function isModule(url: string, scripts: boolean): boolean {
  return /\.(?:m?ts|mjs|json)$/.test(url) || (scripts && url.endsWith('.js'));
}

/** The format of a module that was found in a text. */
function formatByName(url: string): string {
  if (url.endsWith('.json')) return 'json';
  return /\.m?ts$/.test(url) ? 'module-typescript' : 'module';
}
