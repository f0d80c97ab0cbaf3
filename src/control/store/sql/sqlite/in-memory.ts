/** The name by which SQLite keeps a database in memory. Another connection would have a database of its own. */
export const inMemory = ':memory:';
