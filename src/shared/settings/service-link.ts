const shape =
  /^(?:KONG|SLUICEGATE)(?:_[A-Z0-9_]+)?_(?:SERVICE_HOST|SERVICE_PORT(?:_[A-Z0-9_]+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/;

/**
 * Kubernetes gives every container the address of each Service of its namespace: a Service named `kong-proxy` creates
 * `KONG_PROXY_SERVICE_HOST`, `KONG_PROXY_PORT_8000_TCP`, `KONG_PROXY_PORT=tcp://10.0.0.1:8000` and more. They are not
 * settings.
 */
export function isServiceLink(name: string, value: string): boolean {
  return shape.test(name) || (name.endsWith('_PORT') && /^(?:tcp|udp|sctp):\/\//.test(value));
}
