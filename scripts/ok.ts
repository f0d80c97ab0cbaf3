// The one gate: format, lint, types, import law, plugin folders, links, test index, words, generated files, unit tests.
import { gate } from './lib/gate.ts';

process.exitCode = (await gate()) ? 0 : 1;
