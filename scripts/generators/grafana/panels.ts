/** One query of a panel; `legend` names its series, with `{{label}}`. */
export interface Query {
  readonly expr: string;
  readonly legend?: string;
}

export interface Panel {
  readonly title: string;
  readonly description?: string;
  readonly type: 'timeseries' | 'stat' | 'table';
  /** Grafana's name of a unit: `reqps`, `ms`, `s`, `Bps`, `bytes`, `percentunit`, `short`. */
  readonly unit: string;
  readonly queries: readonly Query[];
  /** Columns of 24. Default 12. */
  readonly width?: number;
}

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

/** A choice at the top of a dashboard: the values of a label. */
export interface Variable {
  readonly name: string;
  readonly metric: string;
}

export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly variables: readonly Variable[];
  readonly rows: readonly Row[];
}

const height = 8;

/** The document that Grafana imports. */
export function dashboardModel({ uid, title, description, variables, rows }: Dashboard): unknown {
  const panels: unknown[] = [];
  let y = 0;
  for (const row of rows) {
    panels.push({
      type: 'row',
      title: row.title,
      id: panels.length + 1,
      collapsed: false,
      gridPos: at(0, y++, 24, 1),
      panels: [],
    });
    let x = 0;
    for (const panel of row.panels) {
      const width = panel.width ?? 12;
      if (x + width > 24) {
        x = 0;
        y += height;
      }
      panels.push(panelModel(panel, panels.length + 1, at(x, y, width, height)));
      x += width;
    }
    y += height;
  }
  return {
    uid,
    title,
    description,
    tags: ['sluicegate'],
    schemaVersion: 41,
    version: 1,
    editable: true,
    timezone: 'browser',
    refresh: '30s',
    time: { from: 'now-1h', to: 'now' },
    templating: { list: [datasourceVariable, ...variables.map(variableModel)] },
    panels,
  };
}

const datasource = { type: 'prometheus', uid: '$datasource' };

const datasourceVariable = { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' };

function variableModel({ name, metric }: Variable): unknown {
  return {
    name,
    label: name,
    type: 'query',
    datasource,
    query: { query: `label_values(${metric},${name})`, refId: name },
    refresh: 2,
    includeAll: true,
    allValue: '.*',
    multi: true,
    sort: 1,
    current: { text: 'All', value: '$__all' },
  };
}

function panelModel({ title, description, type, unit, queries }: Panel, id: number, gridPos: unknown): unknown {
  const instant = type !== 'timeseries';
  return {
    id,
    title,
    ...(description === undefined ? {} : { description }),
    type,
    gridPos,
    datasource,
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    options:
      type === 'timeseries'
        ? {
            legend: { displayMode: 'table', placement: 'bottom', calcs: ['lastNotNull', 'max'] },
            tooltip: { mode: 'multi', sort: 'desc' },
          }
        : {},
    targets: queries.map(({ expr, legend = '' }, index) => ({
      refId: String.fromCharCode(65 + index),
      datasource,
      expr,
      legendFormat: legend,
      ...(instant ? { instant: true, range: false } : {}),
      ...(type === 'table' ? { format: 'table' } : {}),
    })),
  };
}

function at(x: number, y: number, w: number, h: number): unknown {
  return { x, y, w, h };
}
