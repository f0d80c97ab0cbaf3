import type { BackgroundReader, BackgroundWriter } from '../../plugin-sdk/index.ts';

/** The value of a key in the storage of the plugin; null if there is none or it has expired. */
export async function read<T>(reader: BackgroundReader, key: string): Promise<T | null> {
  const row = await reader.find('acme_storage', 'key', key);
  return row === null ? null : (JSON.parse(String(row['value'])) as T);
}

/** `ttl` in seconds; 0: no expiry. */
export async function put(writer: BackgroundWriter, key: string, value: object, ttl = 0): Promise<void> {
  const row = await writer.find('acme_storage', 'key', key);
  const fields = { value: JSON.stringify(value), ttl };
  if (row === null) await writer.insert('acme_storage', { key, ...fields });
  else await writer.update('acme_storage', row.id, fields);
}

export async function drop(writer: BackgroundWriter, key: string): Promise<void> {
  const row = await writer.find('acme_storage', 'key', key);
  if (row !== null) await writer.delete('acme_storage', row.id);
}
