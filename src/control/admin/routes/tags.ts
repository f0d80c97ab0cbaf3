import type { AdminContext } from '../crud/admin-context.ts';
import { invalidInput } from '../errors.ts';
import { type AdminRequest, type AdminRoute, type Answer, ok } from '../http/admin-route.ts';
import { readListPage } from '../lists/list-page.ts';
import { readListRequest } from '../lists/list-request.ts';
import { tagListSource } from '../lists/tag-list.ts';

/** `/tags` and `/tags/{tag}`: which entities carry which tags. */
export function tagRoutes(context: AdminContext): readonly AdminRoute[] {
  const notes = { summary: 'Entities by their tags', answer: 'list', entity: 'tags' } as const;
  return [
    {
      path: '/tags',
      tag: 'tags',
      operations: {
        GET: { access: 'read', handle: (request) => listTags(context, request, undefined), notes },
        POST: {
          access: 'edit',
          handle: () => {
            throw invalidInput({ tags: 'does not support insert/upsert/update/delete operations' });
          },
          notes: {
            summary: 'Refused: tags are fields of their entities',
            answer: 'object',
            status: 400,
            hidden: true,
          },
        },
      },
    },
    {
      path: '/tags/{tags}',
      tag: 'tags',
      operations: { GET: { access: 'read', handle: (request) => listTags(context, request, readTag(request)), notes } },
    },
  ];
}

async function listTags(context: AdminContext, request: AdminRequest, tag: string | undefined): Promise<Answer> {
  const source = tagListSource(context.store, context.entities.definitions, tag);
  const links = { path: request.path, tags: undefined, nested: true };
  return ok(await readListPage(source, readListRequest(request.query), links));
}

function readTag(request: AdminRequest): string {
  const tag = request.params['tags'] ?? '';
  if (/^[^\x00-\x1f\x7f,/]+$/.test(tag)) return tag;
  throw invalidInput({
    tags: `invalid tag '${tag}': expected printable ascii (except \`,\` and \`/\`) or valid utf-8 sequences`,
  });
}
