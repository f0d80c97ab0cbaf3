// The one gate: format, lint, types, import law, plugin folders, generated files, unit tests.
import { gate } from './lib/gate.ts';

process.exitCode = (await gate()) ? 0 : 1;
