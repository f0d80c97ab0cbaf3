import assert from 'node:assert/strict';
import { test } from 'node:test';
import { capabilityUses } from './capability-use.ts';
import { pluginCode } from './code/plugin-code.ts';
import { recordModule } from './code/recorded-module.ts';

function usesOf(...sources: readonly string[]): readonly string[] {
  const modules = sources.map((source, at) => {
    const url = `file:///plugin/${at}.ts`;
    return [url, recordModule(url, 'module-typescript', source)] as const;
  });
  return capabilityUses(pluginCode('/plugin/0.ts', new Map(modules))).map(
    ({ capability, by }) => `${capability}: ${by}`,
  );
}

test('modules of Node, of the kit, and globals show what a plugin reaches', () => {
  assert.deepEqual(usesOf("import { connect } from 'node:net';"), ['network: node:net']);
  assert.deepEqual(usesOf("import fs from 'fs/promises';"), ['files: fs/promises']);
  assert.deepEqual(usesOf("const { spawn } = await import('node:child_process');"), ['files: node:child_process']);
  assert.deepEqual(usesOf("import { openRedis } from 'sluicegate/plugin-kit/net';"), [
    'network: sluicegate/plugin-kit/net',
  ]);
  assert.deepEqual(usesOf('export const a = () => fetch("http://a.test");'), ['network: fetch()']);
  assert.deepEqual(usesOf('export const a = process.env.A;', "import 'node:dns';"), [
    'env: process.env',
    'network: node:dns',
  ]);
});

test('types, methods and other modules show nothing', () => {
  assert.deepEqual(usesOf("import type { Socket } from 'node:net';\nexport const a: Socket | null = null;"), []);
  assert.deepEqual(usesOf('cache.fetch(1); import crypto from "node:crypto"; import net from "./net.ts";'), []);
  assert.deepEqual(usesOf('export const a = { prefetch: () => prefetch(), env: settings.process.env };'), []);
});
