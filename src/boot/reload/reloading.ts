import type { ReloadOutcome } from '../../control/plugin-reload/reload-outcome.ts';
import type { Settings } from '../../shared/settings/settings.ts';
import { changedSettings } from './changed-settings.ts';
import type { ReloadSteps } from './reload-steps.ts';

/** Names of the settings that have changed, by what came of them. */
export interface ReloadResult {
  /** In effect. */
  readonly applied: readonly string[];
  /** Threads and their code are built from them: a new process applies them, on the same sockets. */
  readonly byNewProcess: readonly string[];
  /** Only `sluicegate upgrade`, or a restart, applies them. */
  readonly restart: readonly string[];
  /** What came of the code of users' plugins; absent: it was not loaded again. */
  readonly plugins?: ReloadOutcome;
}

/** What a reload applies by a new process. The other settings would need it too, but move a node or its data. */
const newProcess =
  /^(?:plugins|nginx_worker_processes|cluster_(?:control_plane|dp_labels|server_name|timeout|max_payload)|lua_ssl_trusted_certificate|log_format|dns_\w+|resolver_\w+|\w+_(?:access|error)_log)$/;

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Reloads the settings of a running node, one reload after the other. */
export class Reloading {
  /** As they were loaded. */
  #settings: Settings;
  /** Those of the node, which the control plane reads. */
  readonly #bound: Mutable<Settings>;
  readonly #steps: ReloadSteps;
  #last: Promise<unknown> = Promise.resolve();

  constructor(settings: Settings, bound: Mutable<Settings>, steps: ReloadSteps) {
    this.#settings = settings;
    this.#bound = bound;
    this.#steps = steps;
  }

  run(next: Settings): Promise<ReloadResult> {
    const run = this.#last.then(() => this.#run(next));
    this.#last = run.catch(() => undefined);
    return run;
  }

  async #run(next: Settings): Promise<ReloadResult> {
    const before = this.#settings;
    const changed = changedSettings(before, next);
    await this.#steps.run(next, new Set(changed));
    const known = this.#steps.settings;
    const applied = changed.filter((name) => known.has(name));
    const left = changed.filter((name) => !known.has(name));
    this.#keep(before, next, applied);
    return {
      applied,
      byNewProcess: left.filter((name) => newProcess.test(name)),
      restart: left.filter((name) => !newProcess.test(name)),
    };
  }

  /** The next reload compares with what is in effect, and `GET /` shows it. */
  #keep(before: Settings, next: Settings, applied: readonly string[]): void {
    const shown = { ...this.#bound.public };
    for (const name of applied) shown[name] = next.public[name];
    this.#bound.public = Object.freeze(shown);
    const { logLevel, adminToken, trustedIps, sslCert, sslCertKey, adminTls, statusTls, declarative, hybrid } = next;
    const certificates = { sslCert, sslCertKey, adminTls, statusTls };
    this.#settings = {
      ...before,
      logLevel,
      adminToken,
      trustedIps,
      declarative,
      hybrid,
      ...certificates,
      public: this.#bound.public,
    };
    Object.assign(this.#bound, { logLevel, adminToken, trustedIps });
  }
}
