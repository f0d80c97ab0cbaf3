#!/usr/bin/env node
process.argv.splice(2, 0, 'src/main.ts');
await import('./launch.js');
