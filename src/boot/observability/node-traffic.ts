import type { Supervisor } from '../../control/supervisor/supervisor.ts';
import type { TrafficDesk } from '../../control/traffic/traffic-desk.ts';
import type { WhatIf, WhatIfOptions } from '../../control/what-if/what-if.ts';
import type { Settings } from '../../shared/settings/settings.ts';

/** Repeats recorded requests. Null: there are none. */
export async function openWhatIf(traffic: TrafficDesk | null, options: WhatIfOptions): Promise<WhatIf | null> {
  if (traffic === null) return null;
  const { WhatIf: Runs } = await import('../../control/what-if/what-if.ts');
  return new Runs(options);
}

/** Keeps what the workers record. Null: a control plane has no traffic, and a data plane has no Admin API that could show it. */
export async function openTraffic({ role, traffic }: Settings, supervisor: Supervisor): Promise<TrafficDesk | null> {
  if (role !== 'traditional') return null;
  const { TrafficDesk: Desk } = await import('../../control/traffic/traffic-desk.ts');
  return new Desk({
    settings: traffic,
    record: (recording) => supervisor.broadcast({ type: 'record-traffic', recording }),
    workers: () => supervisor.running().map(({ number }) => number),
  });
}
