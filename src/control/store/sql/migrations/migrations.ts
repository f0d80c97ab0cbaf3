import { bookkeeping } from './0001-bookkeeping.ts';
import { limitCounters } from './0002-limit-counters.ts';
import { audit } from './0003-audit.ts';
import { analytics } from './0004-analytics.ts';
import { history } from './0005-history.ts';
import { configHistory } from './0006-config-history.ts';
import { nodes } from './0007-nodes.ts';
import type { Migration } from './migration.ts';

/** Every migration, in the order in which they run. */
export const migrations: readonly Migration[] = [
  bookkeeping,
  limitCounters,
  audit,
  analytics,
  history,
  configHistory,
  nodes,
];
