export type NameKind = 'route' | 'service' | 'consumer';

/** The name of an id when it was counted. */
export type UsageName = readonly [kind: NameKind, id: string, name: string];
