import type { SupervisorLog, SupervisorOptions } from '../control/supervisor/supervisor-options.ts';
import type { NodeLogs } from './observability/node-logs.ts';

/** What a node does with the reports of its workers. */
export type WorkerReportHandlers = Pick<
  SupervisorOptions,
  'nameCall' | 'onFailures' | 'onCall' | 'onHealth' | 'onUsageTurned' | 'onTraffic' | 'onExit' | 'onPluginCode'
>;

/**
 * Passes the reports of workers to the parts that handle them. Workers start first, while the logs and these parts do not exist yet:
 * until then log lines and calls wait, and a worker has no other report, as it has no config.
 */
export class WorkerReports implements WorkerReportHandlers {
  readonly #logs = Promise.withResolvers<NodeLogs>();
  readonly #configured = Promise.withResolvers<WorkerReportHandlers>();
  #handlers: WorkerReportHandlers = {
    nameCall: () => ({}),
    onFailures: () => {},
    onCall: async (call) => (await this.#configured.promise).onCall(call),
    onHealth: () => {},
    onUsageTurned: () => {},
    onTraffic: () => {},
    onExit: () => {},
    onPluginCode: () => {},
  };

  readonly nameCall: WorkerReportHandlers['nameCall'] = (call) => this.#handlers.nameCall(call);
  readonly onFailures: WorkerReportHandlers['onFailures'] = (failures) => this.#handlers.onFailures(failures);
  readonly onCall: WorkerReportHandlers['onCall'] = (call) => this.#handlers.onCall(call);
  readonly onHealth: WorkerReportHandlers['onHealth'] = (change) => this.#handlers.onHealth(change);
  readonly onUsageTurned: WorkerReportHandlers['onUsageTurned'] = (worker, message) =>
    this.#handlers.onUsageTurned(worker, message);
  readonly onTraffic: WorkerReportHandlers['onTraffic'] = (worker, message) =>
    this.#handlers.onTraffic(worker, message);
  readonly onExit: WorkerReportHandlers['onExit'] = (worker) => this.#handlers.onExit(worker);

  readonly onPluginCode: WorkerReportHandlers['onPluginCode'] = (worker, message) =>
    this.#handlers.onPluginCode(worker, message);

  logTo(logs: NodeLogs): void {
    this.#logs.resolve(logs);
  }

  /** Call it before the workers receive their config. */
  handleWith(handlers: WorkerReportHandlers): void {
    this.#handlers = handlers;
    this.#configured.resolve(handlers);
  }

  /** A log whose lines wait until the logs are open. */
  log(choose: (logs: NodeLogs) => SupervisorLog): SupervisorLog {
    return {
      log: (level, message, fields) => {
        void this.#logs.promise.then((logs) => choose(logs).log(level, message, fields));
      },
    };
  }
}
