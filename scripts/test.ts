// Everything that can be proven on this machine: the gate, then the integration and conformance suites. With CI=true a
// skipped test is a failure.
import { gate, runGroups } from './lib/gate.ts';
import { integrationTests } from './lib/test-step.ts';

process.exitCode = (await gate()) && (await runGroups([[integrationTests()]])) ? 0 : 1;
