import type { ListenAddress, Settings } from '../../shared/settings/settings.ts';
import { type InheritedDescriptors, socketKey } from '../../shared/sockets/listening-sockets.ts';
import { type ActivatedSocket, assignNamed } from './activated-sockets.ts';
import { claimPorts } from './claim-ports.ts';
import { DescriptorSupply } from './descriptor-supply.ts';
import { closeDescriptors, type InheritedSocket, matchSockets } from './inherited-sockets.ts';

export type Listeners = Pick<
  Settings,
  'proxyListen' | 'streamListen' | 'adminListen' | 'statusListen' | 'adminGuiListen' | 'portalListen' | 'clusterListen'
>;

/** The addresses of a node, free to listen on or listening already. */
export interface OpenSockets {
  /** With real ports. */
  readonly listeners: Listeners;
  /** As they were configured, in the order of `listeners`. */
  readonly wanted: readonly ListenAddress[];
  readonly inherited: InheritedDescriptors;
  /** Keys of inherited sockets to which no others can be added. */
  readonly exclusive: ReadonlySet<string>;
  /** Descriptors of those for workers; null: there are none. */
  readonly supply: DescriptorSupply | null;
  /** Call it when all listeners listen. */
  release(): void;
}

export interface SocketSources {
  /** From the process that is replaced; null: none is. */
  readonly handedOver: readonly InheritedSocket[] | null;
  readonly activated: readonly ActivatedSocket[];
}

/** Finds or reserves every address. Rejects with one line when one of them cannot be listened on. */
export async function openSockets(settings: Settings, { handedOver, activated }: SocketSources): Promise<OpenSockets> {
  const sockets = handedOver ?? activated;
  const assigned = assignNamed(settings, sockets);
  const { proxyListen, streamListen, adminListen, statusListen, adminGuiListen, portalListen, clusterListen } =
    assigned;
  const ofMainThread = [...adminListen, ...statusListen, ...adminGuiListen, ...portalListen, ...clusterListen];
  const wanted = [...proxyListen, ...streamListen, ...ofMainThread];
  const { descriptors: inherited, exclusive, missing, unused, addresses: matched } = matchSockets(wanted, sockets);
  const [stray] = unused;
  if (handedOver === null && stray !== undefined) {
    // Its connections would never be answered.
    throw new Error(`systemd has passed a socket that no listener uses: ${socketKey(stray)} (${stray.name})`);
  }
  const claimed = await claimPorts(missing, settings.portSharing);
  const found = claimed.addresses.values();
  const addresses = matched.map((address) => (missing.includes(address) ? (found.next().value ?? address) : address));
  const listeners: Listeners = {
    proxyListen: addresses.splice(0, proxyListen.length),
    streamListen: addresses.splice(0, streamListen.length),
    adminListen: addresses.splice(0, adminListen.length),
    statusListen: addresses.splice(0, statusListen.length),
    adminGuiListen: addresses.splice(0, adminGuiListen.length),
    portalListen: addresses.splice(0, portalListen.length),
    clusterListen: addresses,
  };
  // A listener of the control plane accepts on one socket.
  const ofControlPlane = [
    listeners.adminListen,
    listeners.statusListen,
    listeners.adminGuiListen,
    listeners.portalListen,
    listeners.clusterListen,
  ];
  const surplus = ofControlPlane.flat().flatMap((address) => (inherited[socketKey(address)] ?? []).slice(1));
  closeDescriptors([...unused, ...surplus.map((descriptor) => ({ descriptor }))]);
  const shared = [...listeners.proxyListen, ...listeners.streamListen]
    .map((address) => ({ key: socketKey(address), udp: address.udp }))
    .filter(({ key }) => exclusive.has(key))
    .map(({ key, udp }) => ({ key, udp, descriptors: inherited[key] ?? [] }));
  // A single worker keeps its socket, and one that replaces it binds the port again, unless systemd holds it.
  const supplied = shared.length > 0 && (settings.workers > 1 || activated.length > 0);
  try {
    const supply = supplied ? await DescriptorSupply.open(shared, settings.workers) : null;
    return { listeners, wanted, inherited, exclusive, supply, release: () => claimed.release() };
  } catch (error) {
    claimed.release();
    throw error;
  }
}
