import { dirname, resolve } from 'node:path';
import protobuf from 'protobufjs';

/** Converts the messages of one method between JSON and protocol buffers. Fields have the names of the `.proto` file. */
export interface MethodCodec {
  /** Throws when the text is not JSON, or not of the message's type. */
  encode(json: string): Uint8Array;
  decode(message: Uint8Array): string;
}

const shown: protobuf.IConversionOptions = { longs: String, enums: String, bytes: String, json: true };

/** The methods of the services in a `.proto` file, by their path: `/package.Service/Method`. */
export class Transcoder {
  readonly #methods: ReadonlyMap<string, MethodCodec>;

  constructor(methods: ReadonlyMap<string, MethodCodec>) {
    this.#methods = methods;
  }

  /** Throws when the file, or one that it imports, is missing or malformed. */
  static async load(file: string): Promise<Transcoder> {
    const root = new protobuf.Root();
    const folder = dirname(resolve(file));
    root.resolvePath = (origin, target) => (origin === '' ? target : resolve(folder, target));
    await root.load(resolve(file), { keepCase: true });
    root.resolveAll();
    const methods = new Map<string, MethodCodec>();
    collect(root, methods);
    return new Transcoder(methods);
  }

  /** The method at the end of a path; null when the file does not have it. */
  method(path: string): MethodCodec | null {
    const found = /\/[^/]+\/[^/]+$/.exec(path);
    return found === null ? null : (this.#methods.get(found[0]) ?? null);
  }
}

function collect(space: protobuf.NamespaceBase, methods: Map<string, MethodCodec>): void {
  for (const each of space.nestedArray) {
    if (each instanceof protobuf.Service) {
      for (const method of each.methodsArray) {
        methods.set(`/${each.fullName.slice(1)}/${method.name}`, codec(method));
      }
    }
    if (each instanceof protobuf.Namespace) collect(each, methods);
  }
}

function codec({ resolvedRequestType: request, resolvedResponseType: response }: protobuf.Method): MethodCodec {
  if (request === null || response === null) throw new Error('the type of a message is missing');
  return {
    encode(json) {
      const value: unknown = JSON.parse(json === '' ? '{}' : json);
      if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('it is not an object');
      return request.encode(request.fromObject(value)).finish();
    },
    decode: (message) => JSON.stringify(response.toObject(response.decode(message), shown)),
  };
}
