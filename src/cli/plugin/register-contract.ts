// Preloaded by `plugin test`: `sluicegate/...` is the running copy.
import { resolveContractImports } from '../../shared/plugin-loader/resolve-contract.ts';

resolveContractImports();
