import { definePlugin, refuse } from 'sluicegate/plugin-sdk';

export default definePlugin({
  name: 'my-policy',
  version: '0.1.0',
  // In every phase, the plugin with the higher number runs first.
  priority: 500,
  // From here come the type of `config` below, the validation, the form of the dashboard and the table in README.md.
  config: ({ array, headerName, string }) => ({
    header: headerName({ required: true, default: 'X-Client', description: 'Request header that names the client.' }),
    refused: array(string(), { required: true, default: [], description: 'Clients that get a 403.' }),
  }),
  // Once for each configuration. Return the phases that you use; others cost nothing.
  setup(config) {
    const refused = new Set(config.refused);
    return {
      // A request matched a route; the backend is not contacted yet.
      access(context) {
        const client = context.request.header(config.header) ?? 'unknown';
        if (refused.has(client)) return refuse(403, `${client} must not call this API`);
        context.upstream.setHeader('X-Checked-Client', client);
      },
      // Before the head of any answer is sent.
      headerFilter(context) {
        context.response.setHeader('X-Checked-By', 'my-policy');
      },
    };
  },
});
