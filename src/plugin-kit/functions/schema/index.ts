/** Fields of configurations with functions (`sluicegate/plugin-kit/functions/schema`); loads the validation library. */
export { functionConfig, nodeChecksOfFunctions } from './function-config.ts';
