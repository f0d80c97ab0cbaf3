import type { Generator } from '../lib/generated-file.ts';
import { kongDashboard } from './grafana/kong-dashboard.ts';
import { nodeDashboard } from './grafana/node-dashboard.ts';
import { dashboardModel } from './grafana/panels.ts';

/** The dashboards of `deploy/grafana`. */
export const generateGrafanaDashboards: Generator = async () =>
  Object.entries({ kong: kongDashboard, sluicegate: nodeDashboard }).map(([name, dashboard]) => ({
    path: `deploy/grafana/dashboards/${name}.json`,
    content: `${JSON.stringify(dashboardModel(dashboard), null, 2)}\n`,
  }));
