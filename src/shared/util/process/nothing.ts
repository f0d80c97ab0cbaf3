/** Loaded instead of parts of dependencies that the gateway does not use (resolve-directly.ts). */
export {};
