/** The phases that a function may be for: the fields of the configuration, with Kong's names. */
export const functionPhaseNames = ['certificate', 'rewrite', 'access', 'header_filter', 'body_filter', 'log'] as const;

export type FunctionPhase = (typeof functionPhaseNames)[number];

/** Kong's fields for WebSocket frames, which it runs in its Enterprise edition only. */
export const refusedPhaseNames = ['ws_handshake', 'ws_client_frame', 'ws_upstream_frame', 'ws_close'] as const;

/** Phases whose functions may wait for something. */
export const asynchronousPhases: ReadonlySet<FunctionPhase> = new Set(['certificate', 'rewrite', 'access']);

/** The configuration of `pre-function` and `post-function`: texts of functions, by phase. */
export type FunctionConfig = Readonly<Record<FunctionPhase, readonly string[]>>;

/** Maximum characters of a function, and maximum functions of a phase. */
export const maxFunctionLength = 65_536;
export const maxFunctions = 16;

/** How a function is called in stack traces and error messages: `pre-function access[1]`. `index` counts from 1. */
export function functionName(plugin: string, phase: FunctionPhase, index: number): string {
  return `${plugin} ${phase}[${index}]`;
}
