/** This gateway's own version. */
export const version = '0.1.0';

/** The version of Kong whose interfaces are kept: clients such as decK and the Ingress Controller choose by it. */
export const kongVersion = '3.9.1';

/** Name and version in `Server` and `Via`. */
export const serverToken = `kong/${kongVersion}`;
