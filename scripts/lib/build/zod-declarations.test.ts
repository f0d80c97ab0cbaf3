import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withOwnZod } from './zod-declarations.ts';

test('declarations take the types of zod from the file of the package', () => {
  const text = "import { z } from 'zod';\nexport type A = z.infer<z.ZodType<string>>;\n";
  assert.equal(
    withOwnZod(text, '../../zod.d.ts'),
    "import type { z } from '../../zod.js';\nexport type A = z.infer<z.ZodType<string>>;\n",
  );
  assert.match(withOwnZod(text, 'zod.d.ts'), /^import type \{ z \} from '\.\/zod\.js';$/m);
  assert.equal(withOwnZod('export type A = 1;\n', 'zod.d.ts'), 'export type A = 1;\n');
});

test('a type of zod that is not in the list stops the build', () => {
  assert.throws(() => withOwnZod("import type { z } from 'zod';\ntype A = z.ZodObject;\n", 'zod.d.ts'), /z\.ZodObject/);
  assert.throws(() => withOwnZod('export type A = import("zod").z.ZodType;\n', 'zod.d.ts'), /not known/);
});
