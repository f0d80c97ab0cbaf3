import { resolve } from 'node:path';
import type { CommandContext } from '../../command.ts';
import { writeFile } from './export.ts';

/** `config init [file]`: writes an example with comments. An existing file is never overwritten. */
export async function init(context: CommandContext): Promise<number> {
  const file = context.arguments.positionals[1] ?? 'kong.yml';
  writeFile(resolve(context.cwd, file), file, example, 'wx');
  return 0;
}

const example = `# The config of the gateway. Check it with \`sluicegate config check\`, compare it with a running node with
# \`sluicegate config diff\`, and apply it with \`sluicegate config apply\`.

# The version of the format.
_format_version: "3.0"

# Values such as passwords are hashed when they are read. An export contains hashes and sets this to false.
_transform: true

# A backend, and the routes that lead to it. Entities can be nested in each other.
#services:
#- name: example-service
#  url: http://example.com
#  # Entities with a name get the same id each time, so you need not write ids.
#  routes:
#  - name: example-route
#    paths:
#    - /
#  plugins:
#  - name: key-auth

# Or refer to another entity by its name or id.
#routes:
#- name: another-route
#  service: example-service
#  hosts:
#  - hello.com

#consumers:
#- username: example-user
#  # Credentials are entities of their own, under the name of their table.
#  keyauth_credentials:
#  - key: my-key

# A plugin without a service, route or consumer applies to all requests.
#plugins:
#- name: rate-limiting
#  config:
#    minute: 100

#upstreams:
#- name: example-upstream
#  targets:
#  - target: 10.0.0.1:8080
#    weight: 100
`;
