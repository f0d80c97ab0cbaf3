import { StoreError } from '../../store.ts';

/** SQLSTATE codes (PostgreSQL documentation, appendix A) and their classes, by how a node can handle them. */
const refusedCodes = ['28', '3D000', '3F000', '42501'];
const unavailableCodes = ['08', '53', '55P03', '57014', '57P', '58', 'XX', '25006', '25P03'];

/** Codes of Node's sockets and of TLS. */
const networkCode = /^(E[A-Z]+|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_|ERR_TLS|ERR_SSL)/;

/** Messages that `pg` gives without a code. */
const refusalMessage = /password must be a string|does not support SSL/i;
const networkMessage = /timeout|terminated|not queryable|Connection ended|connection error/i;

/** An error with the reason after `cannot use PostgreSQL at <address>`. */
export function toStoreError(error: unknown, address: string): unknown {
  if (!(error instanceof Error) || error instanceof StoreError) return error;
  const kind = kindOf(error);
  if (kind === null) return error;
  const reason = (error.message || codeOf(error)).replaceAll('\n', ' ');
  return new StoreError({ kind }, { cause: error, message: `cannot use PostgreSQL at ${address}: ${reason}` });
}

/** True when the connection must not be used again: it is closed, or its server is read-only. */
export function breaksConnection(error: unknown): boolean {
  return !(error instanceof Error) || !isSqlState(codeOf(error)) || /^(08|57P|58|XX|25P03|25006)/.test(codeOf(error));
}

function kindOf(error: Error): 'refused' | 'unavailable' | null {
  const code = codeOf(error);
  if (isSqlState(code)) {
    if (refusedCodes.some((prefix) => code.startsWith(prefix))) return 'refused';
    return unavailableCodes.some((prefix) => code.startsWith(prefix)) ? 'unavailable' : null;
  }
  if (refusalMessage.test(error.message)) return 'refused';
  return networkCode.test(code) || networkMessage.test(error.message) ? 'unavailable' : null;
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}

function isSqlState(code: string): boolean {
  return /^[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]{4}$/.test(code);
}

/** True when the server does not accept writes, such as a standby. */
export function isReadOnly(error: unknown): boolean {
  return error instanceof Error && codeOf(error) === '25006';
}
