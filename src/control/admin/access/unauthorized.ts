import { HttpError } from '../http/http-error.ts';

export function unauthorized(): HttpError {
  return new HttpError(401, { message: 'Unauthorized' }, { 'www-authenticate': 'Bearer realm="admin"' });
}
