// The one gate: format, lint, types, import law, plugin folders, links, generated files, unit tests.
import { gate } from './lib/gate.ts';

process.exitCode = (await gate()) ? 0 : 1;
