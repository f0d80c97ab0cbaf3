import { functionConfig, nodeChecksOfFunctions } from '../../plugin-kit/functions/schema/index.ts';

export const config = functionConfig('pre-function');

export const nodeChecks = nodeChecksOfFunctions('pre-function');
