import { purgeLogContract } from '../store/purge-log.contract.ts';
import { memoryPurges, memoryPurgesBytes } from './memory-purges.ts';

const memory = new SharedArrayBuffer(memoryPurgesBytes);

purgeLogContract('purges in memory', { open: (instance) => memoryPurges(memory, instance), tooMany: 200 });
