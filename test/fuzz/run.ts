import { parseArgs } from 'node:util';
import { fuzz } from './fuzz.ts';

// npm run fuzz -- --seed N --runs M --seconds S: differential fuzzing of the gateway's parsers against Node's own.
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    runs: { type: 'string', default: String(Number.MAX_SAFE_INTEGER) },
    seconds: { type: 'string', default: '60' },
    findings: { type: 'string', default: '10' },
  },
});
const seed = Number(values.seed);
process.stdout.write(`seed ${seed}\n`);
const report = await fuzz({
  seed,
  runs: Number(values.runs),
  seconds: Number(values.seconds),
  maxFindings: Number(values.findings),
});
process.stdout.write(`${report.runs} runs, ${report.agreedMessages} messages read alike\n`);
for (const [reason, count] of [...report.stricter].sort((a, b) => b[1] - a[1])) {
  process.stdout.write(`stricter ${String(count).padStart(8)}  ${reason}\n`);
}
for (const finding of report.findings) {
  process.stdout.write(`\n${finding.what} (${finding.kind}): ${finding.detail}\n  ${JSON.stringify(finding.bytes)}\n`);
}
process.exitCode = report.findings.length === 0 ? 0 : 1;
