import { StoreError } from '../../store.ts';

/** Primary result codes (https://www.sqlite.org/rescode.html) of a database that cannot serve now. */
const unavailableCodes: ReadonlyMap<number, string> = new Map([
  [5, 'another process holds the lock'],
  [6, 'a table is locked'],
  [8, 'the file is read-only'],
  [10, 'the disk fails to read or write'],
  [11, 'the file is damaged'],
  [13, 'the disk is full'],
  [14, 'the file cannot be opened'],
  [26, 'the file is not a database'],
]);

/** Errors of a database that cannot serve become `unavailable`; others are errors of the code and stay unchanged. */
export function toStoreError(error: unknown, file = ''): unknown {
  const reason = unavailableCodes.get(primaryCode(error));
  if (reason === undefined) return error;
  return new StoreError(
    { kind: 'unavailable' },
    { cause: error, message: `the store ${file === '' ? '' : `${file} `}does not answer: ${reason}` },
  );
}

export function describeOpenError(error: unknown): string {
  return unavailableCodes.get(primaryCode(error)) ?? (error instanceof Error ? error.message : String(error));
}

/** Whether another process held the lock for too long. */
export function isBusy(error: unknown): boolean {
  return primaryCode(error instanceof StoreError ? error.cause : error) === 5;
}

function primaryCode(error: unknown): number {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return 0;
  return error.errcode & 0xff;
}
