import { bookkeeping } from './0001-bookkeeping.ts';
import { limitCounters } from './0002-limit-counters.ts';
import { audit } from './0003-audit.ts';
import { analytics } from './0004-analytics.ts';
import { history } from './0005-history.ts';
import { configHistory } from './0006-config-history.ts';
import { nodes } from './0007-nodes.ts';
import type { Migration } from './migration.ts';

/** The layout of the first release. Each version knows these steps, and refuses a store that has an unknown one of this kind. */
export const baseMigrations: readonly Migration[] = [
  bookkeeping,
  limitCounters,
  audit,
  analytics,
  history,
  configHistory,
];

/** The steps since then, in the order in which they run. A version accepts a store with unknown ones that are not finished. */
export const laterMigrations: readonly Migration[] = [nodes];
