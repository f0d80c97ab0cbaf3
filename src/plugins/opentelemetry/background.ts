export { metricsBackground as background } from './metrics/background.ts';
