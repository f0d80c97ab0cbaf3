import type { HeaderCondition } from './header-condition.ts';
import type { RoutableRoute } from './router.ts';

/** The conditions of a route in addition to its path, compiled. */
export interface RouteConditions<R extends RoutableRoute> {
  readonly route: R;
  /** Null: any. */
  readonly hosts: readonly HostPattern[] | null;
  /** Null: any. */
  readonly methods: readonly string[] | null;
  readonly headers: readonly HeaderCondition[];
  /** Null: any. Without trailing dots. */
  readonly snis: readonly string[] | null;
}

export interface HostPattern {
  /** A name, `*.example.com` or `example.*`. */
  readonly name: string;
  /** 0: any. */
  readonly port: number;
}
