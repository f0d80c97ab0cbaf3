import { functionConfig, nodeChecksOfFunctions } from '../../plugin-kit/functions/schema/index.ts';

export const config = functionConfig('post-function');

export const nodeChecks = nodeChecksOfFunctions('post-function');
