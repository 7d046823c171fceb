//! Tests of the queue and its threads, with a model without ONNX.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use super::*;
use crate::engine::backend::{Batching, RowScores};
use crate::engine::reply::{Reply, Timings};
use crate::tokens::{LongTextStrategy, Row, Rows, TokenizeError};

/// A model with a row for each part between bars and one token per byte, whose score is the length of the part.
struct Counting {
    runs: AtomicUsize,
    largest: AtomicUsize,
    delay: Duration,
    batching: Batching,
    waits: AtomicBool,
}

impl Counting {
    fn new(delay_ms: u64, batching: Batching) -> Arc<Self> {
        Arc::new(Self {
            runs: AtomicUsize::new(0),
            largest: AtomicUsize::new(0),
            delay: Duration::from_millis(delay_ms),
            batching,
            waits: AtomicBool::new(false),
        })
    }
}

impl Backend for Counting {
    fn tokenize(&self, question: &Question) -> Result<Rows, TokenizeError> {
        let text = question.text();
        assert!(!text.contains("panic in tokenizer"), "as the test wants");
        if text.contains("slow") {
            std::thread::sleep(Duration::from_millis(5));
        }
        if text.contains("no rows") {
            return Ok(Rows::default());
        }
        let rows = text
            .split('|')
            .map(|part| Row {
                ids: part.bytes().map(u32::from).collect::<Vec<_>>().into(),
                range: 0..part.len(),
                ..Row::default()
            })
            .collect::<Vec<_>>();
        Ok(Rows {
            tokens: text.len(),
            skipped: None,
            rows,
        })
    }

    fn run(&self, rows: &[&Row]) -> Result<Vec<RowScores>, EngineError> {
        self.runs.fetch_add(1, Ordering::SeqCst);
        self.largest.fetch_max(rows.len(), Ordering::SeqCst);
        std::thread::sleep(self.delay);
        assert!(rows.iter().all(|row| row.ids.len() != 13), "unlucky");
        let scores = |row: &&Row| RowScores {
            heads: vec![vec![row.ids.len() as f32]],
            spans: Vec::new(),
        };
        Ok(rows.iter().map(scores).collect())
    }

    fn batching(&self) -> Batching {
        self.batching
    }

    fn would_wait(&self, _row: &Row) -> bool {
        self.waits.load(Ordering::SeqCst)
    }
}

type Answers = mpsc::Receiver<Result<Arc<Reply>, EngineError>>;

/// Workers with one client.
struct Served {
    workers: Workers<Counting>,
    client: Client,
}

fn serve(workers: usize, capacity: usize) -> Served {
    let workers = Workers::start(workers).expect("threads");
    let client = workers.client(1, capacity);
    Served { workers, client }
}

fn ask_as(workers: &Workers<Counting>, client: Client, model: &Arc<Counting>, text: &str) -> (Ticket, Answers) {
    let (send, receive) = mpsc::channel();
    let on_reply: OnReply = Box::new(move |result| send.send(result).expect("the test waits"));
    let question = Question::Text(text.into(), LongTextStrategy::Windows, usize::MAX);
    (workers.ask(client, model, question, on_reply), receive)
}

fn ask(served: &Served, model: &Arc<Counting>, text: &str) -> (Ticket, Answers) {
    ask_as(&served.workers, served.client, model, text)
}

fn wait(answers: &Answers) -> Result<Arc<Reply>, EngineError> {
    answers
        .recv_timeout(Duration::from_secs(20))
        .expect("an answer in time")
}

#[test]
fn answers_each_text_with_its_own_parts_in_order() {
    let queue = serve(2, 100);
    let model = Counting::new(1, Batching::Single);
    let asked: Vec<_> = ["a", "bb|cccc", "ddd"]
        .iter()
        .map(|text| ask(&queue, &model, text).1)
        .collect();
    let lengths: Vec<Vec<f32>> = asked
        .iter()
        .map(|answers| {
            wait(answers)
                .unwrap()
                .parts
                .iter()
                .map(|part| part.heads[0][0])
                .collect()
        })
        .collect();
    assert_eq!(lengths, [vec![1.0], vec![2.0, 4.0], vec![3.0]]);
    assert_eq!(model.largest.load(Ordering::SeqCst), 1);
    assert!(queue.workers.is_empty());
}

#[test]
fn the_same_text_in_flight_is_computed_once() {
    let queue = serve(2, 100);
    let model = Counting::new(30, Batching::Single);
    let asked: Vec<_> = (0..20).map(|_| ask(&queue, &model, "same text").1).collect();
    let replies: Vec<_> = asked.iter().map(|answers| wait(answers).unwrap()).collect();
    assert!(replies.windows(2).all(|pair| pair[0] == pair[1]));
    assert_eq!(model.runs.load(Ordering::SeqCst), 1);
}

#[test]
fn equal_rows_of_a_text_run_once() {
    let queue = serve(2, 100);
    for batching in [Batching::Single, Batching::Tokens(64)] {
        let model = Counting::new(1, batching);
        let reply = wait(&ask(&queue, &model, "aa|bb|aa|ccc|ccc|aa").1).unwrap();
        let lengths: Vec<f32> = reply.parts.iter().map(|part| part.heads[0][0]).collect();
        assert_eq!(lengths, [2.0, 2.0, 2.0, 3.0, 3.0, 2.0]);
        assert!(model.runs.load(Ordering::SeqCst) <= 3);
        assert_eq!(wait(&ask(&queue, &model, "dd|dd").1).unwrap().parts.len(), 2);
        assert!(model.runs.load(Ordering::SeqCst) <= 4);
    }
}

#[test]
fn rows_of_similar_length_share_a_run() {
    let queue = serve(1, 100);
    let model = Counting::new(30, Batching::Tokens(64));
    let asked: Vec<_> = ["x", "aaaaaaaa", "bbbbbbbb", "ccccccc", &"y".repeat(60)]
        .iter()
        .map(|text| ask(&queue, &model, text).1)
        .collect();
    let lengths: Vec<f32> = asked
        .iter()
        .map(|answers| wait(answers).unwrap().parts[0].heads[0][0])
        .collect();
    assert_eq!(lengths, [1.0, 8.0, 8.0, 7.0, 60.0]);
    let largest = model.largest.load(Ordering::SeqCst);
    assert!((1..=3).contains(&largest), "{largest} rows in one run");
    assert!(model.runs.load(Ordering::SeqCst) < 5);
}

#[test]
fn a_full_queue_refuses_at_once_and_aborted_texts_make_room() {
    let queue = serve(1, 2);
    let model = Counting::new(100, Batching::Single);
    let first = ask(&queue, &model, "first");
    let second = ask(&queue, &model, "second");
    let third = ask(&queue, &model, "third");
    assert!(matches!(wait(&third.1), Err(EngineError::Overloaded { capacity: 2 })));
    second.0.abort();
    assert!(matches!(wait(&second.1), Err(EngineError::Aborted)));
    let fourth = ask(&queue, &model, "fourth");
    assert!(wait(&first.1).is_ok() && wait(&fourth.1).is_ok());
    assert_eq!(model.runs.load(Ordering::SeqCst), 2, "the aborted text was not run");
}

#[test]
fn a_panic_is_the_error_of_one_call() {
    let queue = serve(2, 100);
    let model = Counting::new(1, Batching::Single);
    let bad = ask(&queue, &model, "unlucky: thir");
    let worse = ask(&queue, &model, "a panic in tokenizer");
    assert!(matches!(wait(&bad.1), Err(EngineError::Panic { message }) if message.contains("unlucky")));
    assert!(matches!(wait(&worse.1), Err(EngineError::Panic { .. })));
    for round in 0..8 {
        assert!(wait(&ask(&queue, &model, &format!("fine {round}")).1).is_ok());
    }
}

#[test]
fn a_long_text_does_not_hold_up_a_short_one() {
    let queue = serve(1, 100);
    let model = Counting::new(5, Batching::Single);
    let long = ask(
        &queue,
        &model,
        &(100..200).map(|part| part.to_string()).collect::<Vec<_>>().join("|"),
    );
    while model.runs.load(Ordering::SeqCst) == 0 {
        std::thread::yield_now();
    }
    wait(&ask(&queue, &model, "short").1).unwrap();
    assert!(model.runs.load(Ordering::SeqCst) < 50, "the short text came in between");
    assert_eq!(wait(&long.1).unwrap().parts.len(), 100);
}

#[test]
fn closing_while_busy_answers_everybody() {
    let queue = serve(2, 100);
    let model = Counting::new(20, Batching::Single);
    let asked: Vec<_> = (0..50).map(|i| ask(&queue, &model, &format!("text {i}")).1).collect();
    assert!(queue.workers.shut_down(Duration::from_secs(20)));
    for answers in &asked {
        let result = wait(answers);
        assert!(matches!(result, Ok(_) | Err(EngineError::Closed)));
    }
    assert!(matches!(wait(&ask(&queue, &model, "late").1), Err(EngineError::Closed)));
}

#[test]
fn closing_one_client_leaves_the_others() {
    let queue = serve(1, 100);
    let model = Counting::new(20, Batching::Single);
    let other = queue.workers.client(2, 100);
    let _busy = ask(&queue, &model, "busy");
    let mine = ask(&queue, &model, "mine");
    let others = ask_as(&queue.workers, other, &model, "other");
    queue.workers.close(queue.client);
    assert!(matches!(wait(&mine.1), Err(EngineError::Closed)));
    assert!(wait(&others.1).is_ok());
}

#[test]
fn clients_of_one_model_share_answers_but_not_limits() {
    let queue = serve(1, 1);
    let model = Counting::new(50, Batching::Single);
    let roomy = queue.workers.client(1, 100);
    let first = ask(&queue, &model, "first");
    let refused = ask(&queue, &model, "second");
    assert!(matches!(wait(&refused.1), Err(EngineError::Overloaded { capacity: 1 })));
    // A question that another client already asked needs no capacity.
    let others: Vec<_> = (0..3)
        .map(|number| ask_as(&queue.workers, roomy, &model, &format!("other {number}")).1)
        .collect();
    let joined = ask(&queue, &model, "other 2");
    assert_eq!(
        (queue.workers.pending(queue.client), queue.workers.pending(roomy)),
        (1, 3)
    );
    assert!(wait(&first.1).is_ok());
    // The answer goes to the remaining callers.
    queue.workers.close(roomy);
    let closed = others.iter().filter(|answers| wait(answers).is_err()).count();
    assert!(closed >= 1, "closed while they waited");
    assert!(wait(&joined.1).is_ok());
    assert_eq!((queue.workers.pending(queue.client), queue.workers.len()), (0, 0));
}

#[test]
fn clients_of_other_models_never_share_answers() {
    let queue = serve(1, 100);
    let other = queue.workers.client(2, 100);
    let model = Counting::new(20, Batching::Single);
    let asked = [
        ask(&queue, &model, "same"),
        ask_as(&queue.workers, other, &model, "same"),
    ];
    assert!(asked.iter().all(|(_, answers)| wait(answers).is_ok()));
    assert_eq!(model.runs.load(Ordering::SeqCst), 2);
}

#[test]
fn the_three_times_add_up() {
    let queue = serve(1, 100);
    let model = Counting::new(20, Batching::Single);
    let started = Instant::now();
    let alone = wait(&ask(&queue, &model, "slow to tokenize").1).unwrap().timings;
    assert!(alone.inferred >= Duration::from_millis(20), "{alone:?}");
    assert!(alone.tokenized >= Duration::from_millis(5), "{alone:?}");
    assert!(alone.queued > Duration::ZERO, "{alone:?}");
    assert!(alone.queued + alone.tokenized + alone.inferred <= started.elapsed());

    // With one worker, the second text waits for the current run and for the other rows of the long text.
    let started = Instant::now();
    let asked = [ask(&queue, &model, "a|b|c|d"), ask(&queue, &model, "behind")];
    let [long, behind] = asked.map(|(_, answers)| wait(&answers).unwrap().timings);
    let all = started.elapsed();
    assert!(long.inferred >= Duration::from_millis(80) && behind.inferred >= Duration::from_millis(20));
    assert!(behind.queued >= Duration::from_millis(15), "{behind:?}");
    for Timings {
        queued,
        tokenized,
        inferred,
    } in [long, behind]
    {
        assert!(queued + tokenized + inferred <= all);
    }
}

#[test]
fn models_rest_when_nothing_is_worked_on() {
    let mut queue = Queue::<Counting>::default();
    let model = Counting::new(0, Batching::Single);
    let seconds = Duration::from_secs;
    let now = Instant::now();
    assert_eq!(queue.rest_after(now), None);
    assert!(
        queue.record_run(Arc::downgrade(&model)),
        "somebody has to look after the time"
    );
    assert!(!queue.record_run(Arc::downgrade(&model)));
    let after = queue.rest_after(now).unwrap();
    assert!(after > seconds(1) && after < seconds(3), "{after:?}");
    assert_eq!(queue.rest_after(now + seconds(3)), Some(Duration::ZERO));

    // Not during a run.
    queue.running = 1;
    assert!(queue.rest_after(now + seconds(3)).unwrap() > Duration::ZERO);
    assert_eq!(queue.take_run_models().len(), 1);
    queue.end_release();
    assert_eq!((queue.rest_after(now + seconds(60)), queue.running), (None, 0));

    // An occasional text does not postpone the next release for ever.
    queue.record_run(Arc::downgrade(&model));
    assert_eq!(queue.rest_after(Instant::now() + seconds(31)), Some(Duration::ZERO));

    queue.take_run_models();
    assert_eq!(queue.rest_after(now), None);
    // The memory of a closed model is released too.
    queue.record_close();
    assert_eq!(queue.rest_after(Instant::now() + seconds(3)), Some(Duration::ZERO));
    assert!(queue.take_run_models().is_empty());
    assert_eq!(queue.rest_after(Instant::now() + seconds(3)), None);
}

#[test]
fn a_shared_answer_has_one_set_of_times() {
    let queue = serve(1, 100);
    let model = Counting::new(30, Batching::Single);
    let asked: Vec<_> = (0..5).map(|_| ask(&queue, &model, "same text").1).collect();
    let times: Vec<Timings> = asked.iter().map(|answers| wait(answers).unwrap().timings).collect();
    assert!(times.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn a_text_without_rows_has_times_too() {
    let queue = serve(1, 100);
    let model = Counting::new(1, Batching::Single);
    let reply = wait(&ask(&queue, &model, "no rows: slow").1).unwrap();
    assert!(reply.parts.is_empty());
    assert!(reply.timings.tokenized >= Duration::from_millis(5) && reply.timings.inferred.is_zero());
}

#[test]
fn rows_that_would_wait_for_another_model_run_after_the_others() {
    let queue = serve(1, 100);
    let [busy, waiting, other] = [20, 0, 0].map(|delay| Counting::new(delay, Batching::Single));
    waiting.waits.store(true, Ordering::SeqCst);
    let (send, order) = mpsc::channel();
    let asked: Vec<_> = [("first", &busy), ("second", &waiting), ("third", &other)]
        .into_iter()
        .enumerate()
        .map(|(index, (text, model))| {
            let send = send.clone();
            let client = queue.workers.client(index as u64, 100);
            let question = Question::Text(text.into(), LongTextStrategy::Windows, usize::MAX);
            let on_reply: OnReply = Box::new(move |reply| send.send((index, reply.is_ok())).expect("the test waits"));
            queue.workers.ask(client, model, question, on_reply)
        })
        .collect();
    let answered: Vec<_> = asked
        .iter()
        .map(|_| order.recv_timeout(Duration::from_secs(20)).unwrap())
        .collect();
    // The row that would wait runs too when there is no other.
    assert_eq!(answered, [(0, true), (2, true), (1, true)]);
}
