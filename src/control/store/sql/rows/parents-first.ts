import type { EntityTable, EntityTables } from './entity-table.ts';

/** Tables in an order in which each comes after those that it refers to. */
export function parentsFirst(tables: EntityTables): readonly EntityTable[] {
  const done = new Set<EntityTable>();
  function visit(table: EntityTable, path: readonly string[]): void {
    if (done.has(table)) return;
    if (path.includes(table.name)) throw new Error(`entities refer to each other in a circle: ${path.join(', ')}`);
    for (const { references, field } of table.foreignColumns) {
      const parent = tables.get(references);
      if (parent === undefined) throw new Error(`${table.name}.${field} refers to an unknown entity '${references}'`);
      if (parent !== table) visit(parent, [...path, table.name]);
    }
    done.add(table);
  }
  for (const table of tables.values()) visit(table, []);
  return [...done];
}
