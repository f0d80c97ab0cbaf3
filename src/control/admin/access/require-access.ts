import type { AdminRole } from '../../../shared/entities/admin-users.ts';
import type { Row } from '../../../shared/entities/entity.ts';
import type { Operation } from '../http/admin-route.ts';
import type { Caller } from './caller.ts';
import { changeProblem } from './change-rules.ts';
import { forbidden } from './forbidden.ts';

const rank: Readonly<Record<AdminRole, number>> = { read: 0, edit: 1, admin: 2 };

/** Whether the caller's role includes this one. */
export function mayUse({ role }: Pick<Caller, 'role'>, access: AdminRole): boolean {
  return rank[role] >= rank[access];
}

/** Throws 403 unless the caller's role may use the operation. An operation without a decision is for admins. */
export function requireAccess(
  caller: Caller,
  { access = 'admin' }: Pick<Operation, 'access'>,
  method: string,
  path: string,
): void {
  if (!mayUse(caller, access)) throw forbidden(caller, `${method} ${path} needs the role ${access}`);
}

/** Throws 403 unless the caller may write the row. For operations that change something else than rows. */
export function requireOwn(caller: Caller, entity: string, row: Row): void {
  const problem = changeProblem(caller, { entity, before: row, after: row });
  if (problem !== null) throw forbidden(caller, problem);
}
